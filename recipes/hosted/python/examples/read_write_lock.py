"""kazoo's read and write locks: the first process writes, the others read.

    zoocheck run read_write_lock.py:worker --promises shared-lock=/lock
"""


def worker(client, probe):
    reads = probe.process > 0
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
