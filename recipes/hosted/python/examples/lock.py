"""kazoo's lock, as its documentation shows it.

    zoocheck run lock.py:worker --promises fair-lock=/lock
"""


def worker(client, probe):
    lock = client.Lock("/lock", probe.name)
    for _ in probe.rounds():
        probe.attempts("/lock")
        with lock:
            probe.enters("/lock", lock.node)
            probe.write()
            probe.work()
            probe.write()
            probe.leaves("/lock")
        probe.released("/lock")
