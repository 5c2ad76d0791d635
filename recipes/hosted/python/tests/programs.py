"""Programs that use what Python has for threads: all of it takes its turns in virtual time.

    zoocheck run programs.py:means --promises lock=/lock
"""

import asyncio
import atexit
import concurrent.futures
import logging
import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, NodeExistsError, SessionExpiredError


def means(client, probe):
    """Each process holds the lock by other means, and logs what it does."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(threadName)s %(thread)d: %(message)s")
    [by_timers, by_a_pool, by_an_event_loop][probe.process % 3](client, probe)


def holds(client, probe, root=""):
    lock = client.Lock("/lock", probe.name)
    probe.attempts(root + "/lock")
    with lock:
        probe.enters(root + "/lock", lock.node)
        logging.info("%s holds it", probe.name)
        probe.write()
        probe.work()
        probe.leaves(root + "/lock")
    probe.released(root + "/lock")


def by_timers(client, probe):
    results = queue.SimpleQueue()

    def turn():
        try:
            results.put(holds(client, probe))
        except Exception as error:
            results.put(error)

    for _ in probe.rounds():
        threading.Timer(0.5, turn).start()
        error = results.get(timeout=600)
        if error:
            raise error


def by_a_pool(client, probe):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for _ in probe.rounds():
            works = [pool.submit(client.retry, client.exists, "/lock"), pool.submit(holds, client, probe)]
            for work in concurrent.futures.as_completed(works):
                work.result()


def by_an_event_loop(client, probe):
    asyncio.run(coroutine(client, probe))


async def coroutine(client, probe):
    loop = asyncio.get_running_loop()
    for _ in probe.rounds():
        answered = asyncio.Event()
        client.exists_async("/lock").rawlink(lambda _: loop.call_soon_threadsafe(answered.set))
        await answered.wait()
        await asyncio.gather(asyncio.sleep(0.1), asyncio.to_thread(holds, client, probe))


def tries_again_at_once(client, probe):
    """In real time, this turns round until there is a connection, and a session."""
    for _ in probe.rounds():
        for _ in range(40):
            while True:
                try:
                    client.exists("/lock")
                    break
                except (ConnectionLoss, SessionExpiredError):
                    continue
            client.handler.sleep_func(0.5)
        holds(client, probe)


def a_listener_blocks(client, probe):
    """kazoo calls it in the thread of its connection."""
    client.add_listener(lambda state: threading.Event().wait())
    for _ in probe.rounds():
        holds(client, probe)


def fails(client, probe):
    client.retry(client.exists, "/lock")
    raise RuntimeError("it was not there")


def exits(client, probe):
    client.retry(client.exists, "/lock")
    sys.exit(1)


def exits_well(client, probe):
    for _ in probe.rounds():
        holds(client, probe)
    sys.exit(0 if probe.process else None)


def releases_at_exit(client, probe):
    """What was registered first runs last, whatever becomes of the others."""
    lock = client.Lock("/lock", probe.name)

    def release():
        lock.release()
        probe.released("/lock")

    atexit.unregister(atexit.register(release))
    atexit.register(release)
    atexit.register(lambda: 1 / 0)
    probe.attempts("/lock")
    lock.acquire()
    probe.enters("/lock", lock.node)
    probe.write()
    probe.work()
    probe.write()
    probe.leaves("/lock")


def waits_by_a_watch_of_its_session(client, probe):
    """Wrong: with the session goes the watch, and it waits on when its client has another one."""
    if probe.process == 0:
        probe.work()
        return client.retry(client.ensure_path, "/ready")
    probe.begins("adds", "/counter", 1)
    ready = threading.Event()
    if not client.retry(client.exists, "/ready", watch=lambda event: event.type == "CREATED" and ready.set()):
        ready.wait()
    client.retry(client.ensure_path, "/counter")
    client.retry(client.set, "/counter", b"1")
    probe.ends("has added", "/counter", 1)


def locks_what_it_has(client, probe):
    """Wrong: kazoo's lock is not reentrant. Who waits for it tries again, after longer and longer naps."""
    lock = client.Lock("/lock", probe.name)
    probe.attempts("/lock")
    with lock, lock:
        probe.enters("/lock", lock.node)
        probe.leaves("/lock")
    probe.released("/lock")


def leaves_work_to_its_threads(client, probe):
    """As Python ends, it waits for them, and has pools do what they were given."""
    pool = concurrent.futures.ThreadPoolExecutor()
    worker = threading.Thread(target=lambda: [holds(client, probe) for _ in probe.rounds()])
    pool.submit(worker.start)
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def leaves_a_thread_stuck(client, probe):
    """It waits for the end of a znode that has ended before it looks."""
    client.ensure_path("/lock")

    def locks():
        probe.attempts("/lock")
        while True:
            try:
                node = client.retry(client.create, "/lock/held", ephemeral=True)
                break
            except NodeExistsError:
                gone = threading.Event()
                client.retry(client.exists, "/lock/held", watch=lambda _: gone.set())
                gone.wait()
        probe.enters("/lock", node)
        probe.work()
        probe.leaves("/lock")
        client.retry(client.delete, node)
        probe.released("/lock")

    threading.Thread(target=locks).start()


def exits_when_it_loses(client, probe):
    """In the thread that tells it, with a lock or without one: whoever starts it anew sees to the rest."""
    client.add_listener(lambda state: state == "CONNECTED" or os._exit(1))
    for _ in probe.rounds():
        holds(client, probe)


def exits_when_it_has_lost(client, probe):
    """In its main thread, when its client may have another session, and after what is done at exit."""
    lost = threading.Event()
    client.add_listener(lambda state: state == "LOST" and lost.set())
    atexit.register(client.stop)
    for _ in probe.rounds():
        try:
            holds(client, probe)
        except Exception:
            if not lost.wait(60):
                raise
        if lost.is_set():
            sys.exit("the lock is lost")


def exits_late(client, probe):
    """Wrong: it goes on for a while with what it has lost."""

    def later():
        probe.write()
        os._exit(1)

    client.add_listener(lambda state: state == "LOST" and threading.Timer(2, later).start())
    for _ in probe.rounds():
        holds(client, probe)


def exits_at_once(client, probe):
    """Wrong, but where it has lost something."""
    probe.attempts("/lock")
    os._exit(3)


def expires_at_once(client, probe):
    """Wrong, but where it has ever lost something."""
    probe.attempts("/lock")
    raise SessionExpiredError("somebody else has the lock")


def by_one_probe(client, probe):
    """Wrong: a process has the lock, and two of its threads are where one should be. They tell so as if they were one."""
    lock, both = client.Lock("/lock", probe.name), threading.Barrier(2)

    def is_there(has_asked):
        probe.attempts("/lock")
        if has_asked:
            lock.acquire()
        both.wait()
        probe.enters("/lock")
        probe.write()
        probe.work()
        probe.leaves("/lock")
        both.wait()
        if has_asked:
            lock.release()
        probe.released("/lock")

    threads = [threading.Thread(target=is_there, args=(has_asked,)) for has_asked in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def by_tasks_of_one_probe(client, probe):
    """Wrong, in one thread."""

    async def asks():
        probe.attempts("/lock")
        await asyncio.sleep(1)
        probe.gives_up("/lock")

    await asyncio.gather(asks(), asks())


def hands_over(client, probe):
    """One asks, another enters, and a third one leaves: one at a time."""
    lock = client.Lock("/lock", probe.name)

    def enters():
        probe.enters("/lock", lock.node)
        probe.write()

    def leaves():
        probe.leaves("/lock")
        lock.release()
        probe.released("/lock")

    for _ in probe.rounds():
        probe.attempts("/lock")
        lock.acquire()
        for does in (enters, leaves):
            thread = threading.Thread(target=does)
            thread.start()
            thread.join()


def loses_a_thread(client, probe):
    """Wrong: nobody handles its error, and the program goes on."""
    holds(client, probe)
    threading.Timer(0.5, lambda: 1 / 0).start()


def loses_a_thread_with_its_session(client, probe):
    """It is over for one of them."""

    def ends():
        raise SessionExpiredError("it has expired")

    holds(client, probe)
    threading.Thread(target=ends).start()
    threading.Thread(target=sys.exit).start()


def exits_with_the_lock(client, probe):
    """All but one do: their znodes go with their sessions, and whoever is next waits for that."""
    lock = client.Lock("/lock", probe.name)
    probe.attempts("/lock")
    lock.acquire()
    probe.enters("/lock", lock.node)
    probe.write()
    probe.leaves("/lock")
    if probe.process == 0:
        lock.release()
    probe.released("/lock")
    if probe.process % 2:
        os._exit(0)
    sys.exit()


def exits_in_the_midst(client, probe):
    """Wrong: it does not say what has come of it."""
    probe.begins("adds", "/counter", 1)
    sys.exit()


def finds_what_it_has_made(client, probe):
    node = "/program/of-" + probe.name
    client.retry(client.ensure_path, node)
    assert client.retry(client.exists, node), "what it has made is gone"


def loses_a_future(client, probe):
    """Wrong: nobody asks what came of it."""
    holds(client, probe)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(int, "none")


async def loses_a_task(client, probe):
    """Wrong: as above, and the task is not dropped before the end."""
    global task
    await asyncio.to_thread(holds, client, probe)
    task = asyncio.create_task(asyncio.to_thread(int, "none"))
    await asyncio.wait([task])


def loses_a_callback(client, probe):
    """Wrong: kazoo logs it, and goes on."""
    client.exists_async("/lock").rawlink(int)
    holds(client, probe)


def loses_a_watch(client, probe):
    """Wrong: the same, and the watch is not set again."""
    client.ensure_path("/lock")
    client.ChildrenWatch("/lock", lambda children: children and int("none"))
    holds(client, probe)


def loses_a_listener(client, probe):
    """Wrong: the same, where a connection is lost."""
    client.add_listener(int)
    holds(client, probe)
    client.stop()


async def asks_what_came_of_it(client, probe):
    """Each error is heard of."""

    await asyncio.to_thread(holds, client, probe)
    await asyncio.gather(*[asyncio.to_thread(int, "none") for _ in range(3)], return_exceptions=True)
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    asyncio.get_running_loop().call_soon(int, "none")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(int, "none").exception()
        pool.submit(int, "none").add_done_callback(print)
    try:
        await asyncio.wait_for(asyncio.to_thread(int, "none"), 60)
    except ValueError:
        pass


def holds_another(client, probe):
    """Wrong, or judged by nothing: one of them has a lock of its own."""
    path = "/lock" if probe.process else "/lck"
    lock = client.Lock(path, probe.name)
    probe.attempts(path)
    with lock:
        probe.enters(path, lock.node)
        if probe.process:
            probe.write()
        probe.leaves(path)
    probe.released(path)


def hums(client, probe):
    """What it says beside is for people."""
    probe.notes("hums", "/lock")
    holds(client, probe)


def loses_a_pools_callback(client, probe):
    """Wrong: a callback of a pool raises an error."""
    holds(client, probe)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(str).add_done_callback(int)


# As the file is loaded, and wherever its servers are.
ITS_CLIENT = KazooClient("zk1.example:2181,zk2.example/app")


def makes_its_client(probe):
    ITS_CLIENT.start()
    for _ in probe.rounds():
        holds(ITS_CLIENT, probe, "/app")
    ITS_CLIENT.stop()


def makes_a_client_a_round(probe):
    for _ in probe.rounds():
        client = KazooClient()
        client.start()
        holds(client, probe)
        client.stop()


def makes_its_client_and_forgets_the_lock(probe):
    """Wrong."""
    ITS_CLIENT.start()
    probe.attempts("/app/lock")
    probe.enters("/app/lock")
    probe.work()
    probe.leaves("/app/lock")
    probe.released("/app/lock")
