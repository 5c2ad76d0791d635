"""kazoo's counter: each adds one in a round.

    zoocheck run counter.py:worker --promises counter=/counter
"""


def worker(client, probe):
    counter = client.Counter("/counter")
    for _ in probe.rounds():
        probe.begins("adds", "/counter", 1)
        counter += 1
        probe.ends("has added", "/counter", 1)
        probe.work()
