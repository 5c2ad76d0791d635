"""kazoo's barrier: the first process raises and lowers it, the others wait.

    zoocheck run barrier.py:worker --promises barrier=/gate/barrier

`wait` may raise ConnectionLoss, as kazoo says, and is tried again.
"""


def worker(client, probe):
    barrier = client.Barrier("/gate/barrier")
    for round in probe.rounds():
        if probe.process == 0:
            raises(barrier, probe, round)
        else:
            passes(client, barrier, probe, round)


def raises(barrier, probe, round):
    probe.begins("raises", "/gate/barrier", round)
    barrier.create()
    probe.notes("has raised", "/gate/barrier", round)
    probe.work()
    probe.notes("lowers", "/gate/barrier", round)
    barrier.remove()
    probe.ends("has lowered", "/gate/barrier", round)


def passes(client, barrier, probe, round):
    probe.begins("comes to", "/gate/barrier", round)
    client.retry(barrier.wait)
    probe.ends("passes", "/gate/barrier", round)
