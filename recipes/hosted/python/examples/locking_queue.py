"""kazoo's locking queue: the first process puts, the others work off.

    zoocheck run locking_queue.py:worker --promises queue=/queue/entries
"""

ITEMS = "/queue/entries"


def worker(client, probe):
    queue = client.LockingQueue("/queue")
    if probe.process == 0:
        for nth in range(len(probe.rounds()) * (probe.clients - 1)):
            puts(queue, probe, "%s-%d" % (probe.name, nth))
    else:
        for round in probe.rounds():
            works(queue, probe, round)


def puts(queue, probe, payload):
    probe.notes("puts", payload)
    queue.put(payload.encode())
    probe.notes("has put", payload)


def works(queue, probe, round):
    probe.notes("asks", ITEMS, round)
    queue.get()
    item = "%s/%s" % (ITEMS, queue.processing_element[0])
    probe.begins("takes", item, round)
    probe.work()
    probe.notes("has worked off", item, round)
    queue.consume()
    probe.ends("is done with", item, round)
