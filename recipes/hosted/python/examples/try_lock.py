"""kazoo's lock, asked for without waiting, or for two seconds at most.

    zoocheck run try_lock.py:at_once --promises lock=/lock
    zoocheck run try_lock.py:timed --promises lock=/lock
"""

from kazoo.exceptions import LockTimeout


def at_once(client, probe):
    tries(client, probe, lambda lock: lock.acquire(blocking=False))


def timed(client, probe):
    tries(client, probe, lambda lock: lock.acquire(timeout=2))


def tries(client, probe, acquires):
    lock = client.Lock("/lock", probe.name)
    for _ in probe.rounds():
        probe.attempts("/lock")
        try:
            acquired = client.retry(acquires, lock)
        except LockTimeout:
            acquired = False
        if acquired:
            probe.enters("/lock", lock.node)
            probe.write()
            probe.work()
            probe.write()
            probe.leaves("/lock")
            lock.release()
            probe.released("/lock")
        else:
            probe.gives_up("/lock", "somebody else has it")
            client.handler.sleep_func(1)
