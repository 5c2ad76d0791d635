"""The host's threads beside Python's own: each case gives the same with both, under any seed.

Run it: `python threads.py`. Cases wait for each other by sleeping, which costs real time with Python's own threads alone.
"""

import asyncio
import concurrent.futures
import importlib
import os
import queue
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def in_threads(*functions):
    """Runs each in a thread of its own, each begun a while after the one before; gives what they say, in order of time."""
    said = []
    threads = []
    for function in functions:
        threads.append(threading.Thread(target=function, args=(said.append,)))
        threads[-1].daemon = True
        threads[-1].start()
        time.sleep(0.1)
    for thread in threads:
        thread.join(5)
    return said + [thread.is_alive() for thread in threads]


def a_notify_wakes_one_that_waits_and_not_one_that_comes_later():
    condition = threading.Condition()

    def waits(say):
        with condition:
            say(condition.wait(1))

    def notifies(say):
        with condition:
            condition.notify()
            say("notified")

    return in_threads(waits, waits, notifies, waits)


def a_notify_is_not_lost_on_one_that_waits_for_the_lock_first():
    condition = threading.Condition()

    def waits(say):
        with condition:
            say(condition.wait(1))
            time.sleep(0.3)

    def notifies(say):
        with condition:
            condition.notify_all()
            time.sleep(0.2)
            say("still holds it")

    return in_threads(waits, waits, notifies)


def an_event_that_is_cleared_at_once_still_wakes():
    event = threading.Event()

    def waits(say):
        say(event.wait(1))

    def sets(say):
        event.set()
        event.clear()
        say(event.is_set())

    return sorted(in_threads(waits, waits, sets))


def an_event_that_nobody_sets_is_waited_for_until_the_time_is_up():
    event = threading.Event()
    return in_threads(lambda say: say(event.wait(0.05))), event.wait(0)


def a_lock_is_waited_for_until_the_time_is_up_and_anybody_may_release_it():
    lock = threading.Lock()

    def holds(say):
        say(lock.acquire())
        time.sleep(0.5)

    def tries(say):
        say(lock.acquire(False))
        say(lock.acquire(timeout=0.05))
        lock.release()
        say(lock.acquire(timeout=0.05))

    return in_threads(holds, tries), lock.locked()


def a_lock_refuses_what_makes_no_sense():
    said = []
    lock = threading.Lock()
    for wrong in [
        lock.release,
        lambda: lock.acquire(False, 1),
        lambda: lock.acquire(True, -2),
        lambda: threading.Condition(lock).notify(),
        lambda: threading.Condition(lock).wait(),
        lambda: threading.RLock().release(),
        lambda: time.sleep(-1),
        lambda: threading.Thread().join(),
    ]:
        try:
            wrong()
        except Exception as error:
            said.append(type(error).__name__)
    return said


def a_reentrant_lock_is_held_until_it_is_released_as_often():
    lock = threading.RLock()

    def holds(say):
        with lock:
            with lock:
                time.sleep(0.3)
            say("inner")
            time.sleep(0.3)
            say("outer")

    def wants(say):
        with lock:
            say("mine")

    return in_threads(holds, wants)


def a_queue_gives_in_order_and_waits_for_what_is_done():
    things = queue.Queue()

    def takes(say):
        for _ in range(3):
            say(things.get())
            time.sleep(0.05)
            things.task_done()
        try:
            things.get(timeout=0.05)
        except queue.Empty:
            say("empty")

    def puts(say):
        for thing in "abc":
            things.put(thing)
        things.join()
        say("all done")

    return in_threads(takes, puts)


def a_full_queue_makes_wait():
    things = queue.Queue(1)

    def puts(say):
        for thing in "ab":
            things.put(thing)
            say("put " + thing)

    def takes(say):
        time.sleep(0.1)
        say("got " + things.get())
        time.sleep(0.1)
        say("got " + things.get())

    return in_threads(puts, takes)


def a_semaphore_lets_so_many_in():
    semaphore = threading.Semaphore(2)

    def enters(say):
        say(semaphore.acquire(timeout=0.05))
        time.sleep(0.6)

    return in_threads(enters, enters, enters)


def a_barrier_opens_for_all():
    barrier = threading.Barrier(3)
    return sorted(in_threads(*[lambda say: say(barrier.wait(2))] * 3), key=str)


def a_thread_is_joined_until_the_time_is_up():
    thread = threading.Thread(target=time.sleep, args=(0.3,))
    before = thread.is_alive()
    thread.start()
    thread.join(0.05)
    during = thread.is_alive()
    thread.join()
    return before, during, thread.is_alive()


def threads_are_known_and_tell_what_they_are():
    def tells(say):
        me, main = threading.current_thread(), threading.main_thread()
        me.setName("me")
        say((me.getName(), me.isDaemon()))
        say((me is main, me in threading.enumerate(), main in threading.enumerate(), repr(me)[:24]))
        say((me.ident == threading.get_ident(), me.native_id == threading.get_native_id(), me.ident != main.ident))

    before, new, main = threading.active_count(), threading.Thread(), threading.main_thread()
    new.setDaemon(True)
    said = in_threads(lambda say: say(threading.active_count() - before), tells)
    known = [new in threading.enumerate(), new.ident, new.native_id, repr(new)[-16:], threading.active_count() - before]
    is_main = isinstance(main, threading._MainThread), main is threading.current_thread(), bool(main.ident)
    return said, known, is_main, (main.name, main.daemon, main.is_alive(), repr(main)[:24])


def what_each_thread_keeps_is_its_own():
    here = threading.local()

    def keeps(say):
        here.value = threading.current_thread()
        time.sleep(0.3)
        say(here.value is threading.current_thread())

    return in_threads(keeps, keeps)


def a_timer_calls_later_unless_it_is_called_off():
    said = []
    timers = [threading.Timer(0.2, said.append, ["called"]), threading.Timer(0.2, said.append, ["called off"])]
    for timer in timers:
        timer.start()
    time.sleep(0.1)
    timers[1].cancel()
    for timer in timers:
        timer.join()
    return said, isinstance(timers[0], threading.Thread)


def a_simple_queue_makes_wait():
    things = queue.SimpleQueue()

    def takes(say):
        for timeout in (None, 0.05):
            try:
                say(things.get(timeout=timeout))
            except queue.Empty:
                say("empty")

    return in_threads(takes, lambda _: things.put("thing"))


def a_pool_has_so_many_threads_and_gives_what_comes_of_its_work():
    def works(seconds):
        time.sleep(seconds)
        return seconds

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        works = [pool.submit(works, seconds) for seconds in (0.3, 0.5, 0.1, 0.0)]
        done, rest = concurrent.futures.wait(works, 0.45)
        said = [len(done), len(rest), [work.result() for work in concurrent.futures.as_completed(works)][-1]]
        fails = pool.submit(int, "none")
        return said, type(fails.exception()).__name__, list(pool.map(str, "abc"))


def an_event_loop_waits_for_its_tasks_timers_and_threads():
    said = []

    def works(loop, event):
        time.sleep(0.1)
        said.append(asyncio._get_running_loop() is loop)
        loop.call_soon_threadsafe(event.set)
        time.sleep(0.3)
        return "worked"

    async def ticks(say, seconds):
        await asyncio.sleep(seconds)
        said.append(say)

    async def main():
        event = asyncio.Event()
        work = asyncio.create_task(asyncio.to_thread(works, asyncio.get_running_loop(), event))
        tasks = [asyncio.create_task(ticks(say, after)) for say, after in (("c", 0.3), ("b", 0.2), ("never", 9))]
        await event.wait()
        said.append("set")
        done, _ = await asyncio.wait(tasks, timeout=0.25)
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.01)
        except asyncio.TimeoutError:
            said.append("over")
        return len(done), await work

    return asyncio.run(main()), said


def time_goes_on_for_those_who_never_rest():
    def spins(say):
        lock, late = threading.Lock(), []
        threading.Timer(0.3, late.append, ["late"]).start()
        while not late:
            with lock:
                time.sleep(0)
        say(late)

    def asks(say):
        there, back, late = queue.Queue(), queue.Queue(), []
        threading.Thread(target=lambda: [back.put(it) for it in iter(there.get, None)]).start()
        threading.Timer(0.3, late.append, ["later"]).start()
        while not late:
            there.put("is it late?")
            back.get()
        there.put(None)
        say(late)

    return in_threads(spins, asks)


def event_loops_of_two_threads_are_apart():
    async def waits(say):
        for _ in range(3):
            await asyncio.sleep(0.2)
            say(threading.current_thread() is threading.main_thread())

    return in_threads(*[lambda say: asyncio.run(waits(say))] * 2)


CASES = [
    case
    for name, case in list(globals().items())
    if callable(case) and case.__module__ == __name__ and name not in ("in_threads",)
]


def hosted(case, seed, stands_still):
    from zoocheck_host import clock, scheduler

    turns = scheduler.Scheduler(clock.now, seed, stands_still, 1_000_000)
    scheduler.begin(turns)
    importlib.import_module("zoocheck_host.loop").begin()
    said = []
    turns.spawn(lambda: said.append(case()))
    due = turns.run()
    while due is not None:
        clock.now.steady = due
        due = turns.run()
    assert turns.kill(), "its threads do not end"
    return said[0]


def main():
    expected = {case: case() for case in CASES}
    clock = importlib.import_module("zoocheck_host.clock")
    scheduler = importlib.import_module("zoocheck_host.scheduler")
    errors = []
    clock.install(scheduler.sleep)
    scheduler.install(errors.append)
    for name in [name for name in sys.modules if name.split(".")[0] in ("asyncio", "concurrent", "_asyncio")]:
        del sys.modules[name]
    loop = importlib.import_module("zoocheck_host.loop")
    loop.install(errors.append)
    globals().update(asyncio=sys.modules["asyncio"], concurrent=sys.modules["concurrent"])
    for case in CASES:
        for seed in range(50):
            for stands_still in (0, 8, 32):
                got = hosted(case, seed, stands_still)
                assert got == expected[case], (case.__name__, seed, stands_still, got, expected[case])
    assert not errors, errors
    print("%d cases" % len(CASES), flush=True)
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        # Threads that are left over are not waited for.
        traceback.print_exc()
        os._exit(1)
