"""kazoo's read and write locks: every other process reads.

    zoocheck run read_write_lock.py:worker --promises lock=/lock
"""


def worker(client, probe):
    reads = probe.process % 2 == 1
    lock = (client.ReadLock if reads else client.WriteLock)("/lock", probe.name)
    for _ in probe.rounds():
        probe.attempts("/lock")
        with lock:
            (probe.shares if reads else probe.enters)("/lock", lock.node)
            if not reads:
                probe.write()
            probe.work()
            if not reads:
                probe.write()
            probe.leaves("/lock")
        probe.released("/lock")
