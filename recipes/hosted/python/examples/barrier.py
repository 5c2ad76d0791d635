"""kazoo's barrier: the first process raises and lowers it, the others wait.

    zoocheck run barrier.py:worker --promises barrier=/gate/barrier

`wait` may raise ConnectionLoss, as kazoo says, and is tried again.

    zoocheck run barrier.py:watching --promises barrier-raised-again=/gate/barrier

`watching` waits by itself: whoever has seen the barrier up passes when that one was lowered, though it is up again.
"""

from kazoo.exceptions import BadVersionError, NoNodeError


def worker(client, probe):
    barrier = client.Barrier("/gate/barrier")
    for round in probe.rounds():
        if probe.process == 0:
            raises(barrier, probe, round)
        else:
            passes(probe, round, lambda: client.retry(barrier.wait))


def watching(client, probe):
    barrier = client.Barrier("/gate/barrier")
    for round in probe.rounds():
        if probe.process == 0:
            raises(barrier, probe, round)
        else:
            passes(probe, round, lambda: waits(client, probe, round))


def waits(client, probe, round):
    try:
        # A write that is refused has its place among all writes. A look alone may show what was before.
        client.retry(client.set, "/gate/barrier", b"", version=2**30)
    except NoNodeError:
        return
    except BadVersionError:
        seen = None
    while True:
        changed = client.handler.event_object()
        stat = client.retry(client.exists, "/gate/barrier", watch=lambda _: changed.set())
        if stat is None or seen not in (None, stat.czxid):
            return
        seen = stat.czxid
        probe.notes("sees", "/gate/barrier", round)
        changed.wait()


def raises(barrier, probe, round):
    probe.begins("raises", "/gate/barrier", round)
    barrier.create()
    probe.notes("has raised", "/gate/barrier", round)
    probe.work()
    probe.notes("lowers", "/gate/barrier", round)
    barrier.remove()
    probe.ends("has lowered", "/gate/barrier", round)


def passes(probe, round, wait):
    probe.begins("comes to", "/gate/barrier", round)
    wait()
    probe.ends("passes", "/gate/barrier", round)
