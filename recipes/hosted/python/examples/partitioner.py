"""kazoo's partitioner of a set: who is given an item has it alone. Said of the item `a`.

    zoocheck run partitioner.py:worker --promises lock=/jobs/locks/a
"""

LOCK = "/jobs/locks/a"


def worker(client, probe):
    for _ in probe.rounds():
        has_its_share(client, probe)


def has_its_share(client, probe):
    items = ("a", "b", "c")
    partitioner = client.retry(client.SetPartitioner, "/jobs", items, identifier=probe.name, time_boundary=2)
    probe.attempts(LOCK)
    while True:
        if partitioner.failed:
            probe.gives_up(LOCK, "failed")
            return
        if partitioner.release:
            partitioner.release_set()
        elif partitioner.acquired:
            if "a" in list(partitioner):
                probe.enters(LOCK)
                probe.write()
                client.handler.sleep_func(0.5)
                probe.leaves(LOCK)
            else:
                client.handler.sleep_func(0.5)
                probe.gives_up(LOCK, "has other items")
            partitioner.finish()
            probe.released(LOCK)
            return
        elif partitioner.allocating:
            partitioner.wait_for_acquire()
