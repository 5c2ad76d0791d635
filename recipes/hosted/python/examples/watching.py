"""kazoo's watches and its cache: the first process changes what the others watch; what they show at last is there.

    zoocheck run watching.py:data --promises program=/watched
    zoocheck run watching.py:children --promises program=/watched
    zoocheck run watching.py:tree --promises program=/watched

The programs themselves say where it is not, by an error: `no-failure` tells of it.
"""

import time

from kazoo.exceptions import ConnectionLoss, NodeExistsError, NoNodeError
from kazoo.recipe.cache import TreeCache

ROOT = "/watched/tree"
# Faults are over after 40 s, when what is watched is changed for the last time; what is shown may be late by so long.
LAST_CHANGE_S, SETTLED_S = 42, 100
PAUSE_S = 0.5
# Without digits: what is left of them is looked at, and no-litter takes numbered names for litter.
ITEMS = "red", "green", "blue"


def data(client, probe):
    if probe.process == 0:
        return changes(client, probe)
    shown = []
    client.retry(client.ensure_path, ROOT)
    client.DataWatch("%s/%s" % (ROOT, ITEMS[0]), lambda data, stat: shown.append(data))
    settles(client)
    expect(probe, shown[-1], there(client, ITEMS[0]))


def children(client, probe):
    if probe.process == 0:
        return changes(client, probe)
    shown = []
    client.retry(client.ensure_path, ROOT)
    client.ChildrenWatch(ROOT, lambda children: shown.append(children))
    settles(client)
    expect(probe, sorted(shown[-1]), sorted(client.retry(client.get_children, ROOT)))


def tree(client, probe):
    if probe.process == 0:
        return changes(client, probe)
    cache = TreeCache(client, ROOT)
    try:
        cache.start()
    except ConnectionLoss:
        # It has begun all the same, and goes on with the next connection.
        pass
    settles(client)
    shown = {name: cache.get_data("%s/%s" % (ROOT, name)) for name in cache.get_children(ROOT) or ()}
    shown = {name: node and node.data for name, node in shown.items()}
    expect(probe, shown, {name: there(client, name) for name in client.retry(client.get_children, ROOT)})


def changes(client, probe):
    """Makes, sets and deletes three znodes in turns, and pauses after every three changes."""
    client.retry(client.ensure_path, ROOT)
    started, step = time.monotonic(), 0
    while time.monotonic() - started < LAST_CHANGE_S:
        path = "%s/%s" % (ROOT, ITEMS[step % 3])
        change(client, path, step)
        probe.work()
        step += 1
        if step % 3 == 0:
            client.handler.sleep_func(PAUSE_S)


def change(client, path, step):
    try:
        if step // 3 % 3 == 0:
            client.retry(client.create, path, b"%d" % step)
        elif step // 3 % 3 == 1:
            client.retry(client.set, path, b"%d" % step)
        else:
            client.retry(client.delete, path)
    except (NodeExistsError, NoNodeError):
        # An answer was lost, and the request was done.
        pass


def there(client, name):
    try:
        return client.retry(client.get, "%s/%s" % (ROOT, name))[0]
    except NoNodeError:
        return None


def settles(client):
    client.handler.sleep_func(SETTLED_S)


def expect(probe, shown, there):
    assert shown == there, "%s shows %r, and %r is there" % (probe.name, shown, there)
