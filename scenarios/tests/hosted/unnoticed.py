"""Wrong programs, each with something that no promise noticed once."""

from kazoo.exceptions import NodeExistsError, NoNodeError


def readers_that_exclude_each_other(client, probe):
    lock = client.Lock("/lock", probe.name)
    for _ in probe.rounds():
        probe.attempts("/lock")
        with lock:
            (probe.enters if probe.process == 0 else probe.shares)("/lock", lock.node)
            probe.work()
            probe.leaves("/lock")
        probe.released("/lock")


def barrier_that_falls_with_its_raiser(client, probe):
    for round in probe.rounds():
        if probe.process > 0:
            probe.begins("comes to", "/gate/barrier", round)
            waits_until_gone(client, "/gate/barrier")
            probe.ends("passes", "/gate/barrier", round)
            continue
        probe.begins("raises", "/gate/barrier", round)
        while True:
            try:
                client.retry(client.create, "/gate/barrier", ephemeral=True)
                break
            except NodeExistsError:
                if client.exists("/gate/barrier").owner_session_id == client.client_id[0]:
                    break
                client.handler.sleep_func(1)
        probe.notes("has raised", "/gate/barrier", round)
        probe.work()
        probe.notes("lowers", "/gate/barrier", round)
        try:
            client.retry(client.delete, "/gate/barrier")
        except NoNodeError:
            pass
        probe.ends("has lowered", "/gate/barrier", round)


def waits_until_gone(client, path):
    while True:
        changed = client.handler.event_object()
        if client.retry(client.exists, path, watch=lambda _: changed.set()) is None:
            return
        changed.wait()
