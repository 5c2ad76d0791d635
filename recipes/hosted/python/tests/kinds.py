"""Commitments, groups, configurations and semaphores, each right and with what is wrong in it."""

import uuid

from kazoo.exceptions import ConnectionLoss, NodeExistsError, NoNodeError

NAMES = ("a", "b")


def read(client, path, seconds):
    """What a znode says once it is there; None if it is not by then."""
    told = client.handler.event_object()
    watch = lambda event: told.set()
    while client.retry(client.exists, path, watch) is None:
        told.wait(seconds)
        if not told.is_set():
            return None
        told.clear()
    return client.retry(client.get, path)[0]


def write_once(client, path, data):
    """What stands there in the end."""
    try:
        client.retry(client.create, path, data, makepath=True)
    except NodeExistsError:
        pass
    return client.retry(client.get, path)[0]


def votes(client, transaction, clients, seconds):
    told = client.handler.event_object()
    watch = lambda event: told.set()
    while True:
        children = client.retry(client.get_children, transaction, watch)
        votes = [name for name in children if name != "decision"]
        if len(votes) == clients:
            return [client.retry(client.get, transaction + "/" + name)[0] for name in votes]
        told.wait(seconds)
        if not told.is_set():
            return None
        told.clear()


def in_transactions(client, probe, decide, patience=5):
    rounds = len(probe.rounds())
    for left in range(rounds, 0, -1):
        transaction = "/tx/tx-%d" % left
        if probe.process == 0:
            probe.notes("proposes", transaction, probe.clients)
        refuses = probe.process == 1 and left % 2 == 0
        vote = write_once(client, "%s/p%d" % (transaction, probe.process), b"abort" if refuses else b"commit")
        probe.begins("votes to %s" % vote.decode(), transaction, probe.process)
        decision = decide(client, probe, transaction, patience)
        probe.ends("commits" if decision == b"commit" else "aborts", transaction, probe.process)


def agrees(client, probe, transaction, patience):
    """Whoever has all votes, or waits no longer, writes the decision, unless there is one."""
    all_votes = votes(client, transaction, probe.clients, patience)
    if all_votes is None:
        probe.notes("waits no longer for the others in", transaction, probe.process)
        return write_once(client, transaction + "/decision", b"abort")
    commit = all(vote == b"commit" for vote in all_votes)
    return write_once(client, transaction + "/decision", b"commit" if commit else b"abort")


def commits(client, probe):
    in_transactions(client, probe, agrees)


def decides_alone(client, probe):
    def alone(client, probe, transaction, patience):
        all_votes = votes(client, transaction, probe.clients, patience)
        if all_votes is None:
            probe.notes("waits no longer for the others in", transaction, probe.process)
            return b"abort"
        return b"commit" if all(vote == b"commit" for vote in all_votes) else b"abort"
    in_transactions(client, probe, alone, patience=1)


def counts_votes(client, probe):
    def counts(client, probe, transaction, patience):
        all_votes = votes(client, transaction, probe.clients, patience)
        if all_votes is None:
            probe.notes("waits no longer for the others in", transaction, probe.process)
            return write_once(client, transaction + "/decision", b"abort")
        return write_once(client, transaction + "/decision", b"commit")
    in_transactions(client, probe, counts)


def aborts_at_will(client, probe):
    def at_will(client, probe, transaction, patience):
        return write_once(client, transaction + "/decision", b"abort")
    in_transactions(client, probe, at_will)


def follows(client, probe, is_full):
    """Tells who is there until all are, to stay."""
    probe.notes("follows", "/members")
    told = client.handler.event_object()
    while True:
        told.clear()
        names = client.retry(client.get_children, "/members", lambda event: told.set())
        probe.sees("/members", names)
        if is_full(names):
            return
        told.wait()


def joins(client, probe, name, ephemeral=True):
    node = "/members/" + name
    probe.notes("joins", node)
    while True:
        try:
            client.retry(client.create, node, ephemeral=ephemeral)
            break
        except NodeExistsError:
            # Of this session, by a create whose answer was lost; or of a former one.
            stat = client.retry(client.exists, node)
            if stat is not None and stat.owner_session_id == client.client_id[0]:
                break
            try:
                client.retry(client.delete, node)
            except NoNodeError:
                pass
    probe.begins("is a member by", node)
    return node


def belongs(client, probe, leaves=True, ephemeral=True):
    if probe.process == 0:
        full = {"p%d!" % process for process in range(1, probe.clients)}
        for _ in probe.rounds():
            follows(client, probe, lambda names: full <= set(names))
            probe.ends("is through with", "/members")
        return
    rounds = len(probe.rounds())
    for left in range(rounds, 0, -1):
        node = joins(client, probe, "p%d%s" % (probe.process, "!" if left == 1 else ""), ephemeral)
        probe.work()
        if left > 1:
            probe.notes("leaves", node)
            if leaves:
                try:
                    client.retry(client.delete, node)
                except NoNodeError:
                    pass
        probe.ends("ends its round with", node)


def never_leaves(client, probe):
    belongs(client, probe, leaves=False)


def outlives(client, probe):
    belongs(client, probe, ephemeral=False)


def sets(client, probe):
    """All values in one transaction, as often as there are rounds."""
    for left in range(len(probe.rounds()), 0, -1):
        value = b"%d%s" % (left, b"!" if left == 1 else b"")
        probe.begins("sets", "/config to %s" % value.decode())
        while True:
            there = client.retry(client.get_children, "/config")
            transaction = client.transaction()
            for name in NAMES:
                if name in there:
                    transaction.set_data("/config/" + name, value)
                else:
                    transaction.create("/config/" + name, value)
            try:
                if not any(isinstance(one, Exception) for one in transaction.commit()):
                    break
            except ConnectionLoss:
                pass
        probe.ends("has set", "/config to %s" % value.decode())
        probe.work()


def configured(client, probe, is_whole):
    if probe.process == 0:
        return sets(client, probe)
    probe.notes("follows", "/config")
    told = client.handler.event_object()
    watch = lambda event: told.set()
    while True:
        told.clear()
        values = {}
        for name in NAMES:
            if client.retry(client.exists, "/config/" + name, watch):
                values[name] = client.retry(client.get, "/config/" + name, watch)
        if is_whole([stat for _, stat in values.values()]):
            probe.sees("/config", {name: data for name, (data, _) in values.items()})
            if values["a"][0].endswith(b"!"):
                return probe.ends("is through with", "/config")
            told.wait()


def reads(client, probe):
    configured(client, probe, lambda stats: len(stats) == 2 and stats[0].mzxid == stats[1].mzxid)


def reads_torn(client, probe):
    configured(client, probe, lambda stats: len(stats) == 2)


def takes_slot(client, slots, mark):
    """The znode of one that is free."""
    told = client.handler.event_object()
    while True:
        told.clear()
        for nth in range(slots):
            node = "/permits/slot-%d" % nth
            try:
                client.retry(client.create, node, mark, ephemeral=True)
                return node
            except NodeExistsError:
                # It may have made it by a create whose answer was lost.
                if is_own(client, node, mark):
                    return node
        if len(client.retry(client.get_children, "/permits", lambda event: told.set())) >= slots:
            told.wait()


def is_own(client, node, mark):
    try:
        return client.retry(client.get, node)[0] == mark
    except NoNodeError:
        return False


def takes_permits(client, probe, slots=2):
    for _ in probe.rounds():
        probe.attempts("/permits")
        mark = uuid.uuid4().bytes
        node = takes_slot(client, slots, mark)
        probe.enters("/permits", node)
        probe.work()
        probe.leaves("/permits")
        while is_own(client, node, mark):
            try:
                client.delete(node)
            except (ConnectionLoss, NoNodeError):
                pass
        probe.released("/permits")


def takes_one_more(client, probe):
    takes_permits(client, probe, slots=3)


def watches(client, probe):
    """Follows by what its client calls, which goes on when this has returned."""
    if probe.process == 0:
        client.create("/config/a", b"0")
        client.set("/config/a", b"1")
    else:
        probe.notes("follows", "/config")
        client.DataWatch("/config/a", lambda data, stat: probe.sees("/config", {"a": data} if stat else {}))
