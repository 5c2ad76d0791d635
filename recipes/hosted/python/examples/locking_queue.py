"""kazoo's locking queue: the first process puts, the others work off.

    zoocheck run locking_queue.py:worker --promises queue=/queue/entries

A put whose answer is lost may be done: its item is left as it is, and another one is put. `get` and `consume` are
tried again.
"""

from kazoo.exceptions import ConnectionLoss

ITEMS = "/queue/entries"


def worker(client, probe):
    queue = client.LockingQueue("/queue")
    if probe.process == 0:
        missing, nth = len(probe.rounds()) * (probe.clients - 1), 0
        while missing:
            missing -= puts(queue, probe, "%s-%d" % (probe.name, nth))
            nth += 1
    else:
        for round in probe.rounds():
            works(client, queue, probe, round)


def puts(queue, probe, payload):
    probe.notes("puts", payload)
    try:
        queue.put(payload.encode())
    except ConnectionLoss:
        return 0
    probe.notes("has put", payload)
    return 1


def works(client, queue, probe, round):
    probe.notes("asks", ITEMS, round)
    client.retry(queue.get)
    item = "%s/%s" % (ITEMS, queue.processing_element[0])
    probe.begins("takes", item, round)
    probe.work()
    probe.notes("has worked off", item, round)
    client.retry(queue.consume)
    probe.ends("is done with", item, round)
