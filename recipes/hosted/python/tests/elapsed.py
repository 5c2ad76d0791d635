"""Programs that look at how much time has passed, or let a lot of it pass."""

import threading
import time

from kazoo.exceptions import NodeExistsError


def kept_if_late(client, probe, begin, is_late):
    """A lock that is not given back where the work took too long."""
    lock = client.Lock("/lock", probe.name)
    for _ in probe.rounds():
        probe.attempts("/lock")
        lock.acquire()
        probe.enters("/lock", lock.node)
        begin()
        probe.write()
        probe.work()
        probe.write()
        probe.leaves("/lock")
        if is_late():
            lock = client.Lock("/lock", probe.name)
        else:
            lock.release()
        probe.released("/lock")


def by_the_clock(client, probe):
    since = []
    kept_if_late(client, probe, lambda: since.append(time.monotonic()), lambda: time.monotonic() - since[-1] > 3)


def by_a_ticker(client, probe):
    age = [0]

    def tick():
        while True:
            time.sleep(1)
            age[0] += 1

    threading.Thread(target=tick, daemon=True).start()
    kept_if_late(client, probe, lambda: age.__setitem__(0, 0), lambda: age[0] > 3)


def told_how_long(client, probe):
    """Nothing but what it prints follows from the time."""
    since = []

    def is_late():
        print("it took", time.monotonic() - since[-1])
        return False

    kept_if_late(client, probe, lambda: since.append(time.monotonic()), is_late)


def made_today(client, probe):
    """Nothing is older than the time that it has run for."""
    for _ in probe.rounds():
        lock = client.Lock("/lock", probe.name)
        probe.attempts("/lock")
        lock.acquire()
        probe.enters("/lock", lock.node)
        made = client.get("/lock/" + lock.node)[1].created
        probe.write()
        probe.work()
        probe.write()
        assert abs(time.time() - made) < 3600
        probe.leaves("/lock")
        lock.release()
        probe.released("/lock")


def looks_now_and_then(client, probe):
    """Right, though slow: a lock by one znode, that is looked at every 90 s."""
    for _ in probe.rounds():
        probe.attempts("/lock")
        while True:
            try:
                client.create("/lock/holder", probe.name.encode(), ephemeral=True)
                break
            except NodeExistsError:
                time.sleep(90)
        probe.enters("/lock", "holder")
        probe.write()
        probe.leaves("/lock")
        client.delete("/lock/holder")
        probe.released("/lock")


def begins_late(client, probe):
    time.sleep(90)
    counter = client.Counter("/counter")
    for _ in probe.rounds():
        probe.begins("adds", "/counter", 1)
        counter += 1
        probe.ends("has added", "/counter", 1)
