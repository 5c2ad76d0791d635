"""kazoo's double barrier: all members enter together, and leave together.

    zoocheck run double_barrier.py:worker --promises double-barrier=/barrier --set rounds=1
"""


def worker(client, probe):
    size = probe.clients
    for _ in probe.rounds():
        barrier = client.DoubleBarrier("/barrier", size, probe.name)
        probe.notes("arrives at", "/barrier", size)
        barrier.enter()
        if not barrier.participating:
            probe.notes("gives up", "/barrier", size)
            continue
        probe.begins("passes", "/barrier", size)
        probe.work()
        probe.notes("asks to leave", "/barrier", size)
        barrier.leave()
        probe.ends("has left", "/barrier", size)
