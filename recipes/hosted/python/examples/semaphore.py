"""kazoo's semaphore with one lease, which is a lock that says nothing of an order.

    zoocheck run semaphore.py:worker --promises lock=/semaphore
"""


def worker(client, probe):
    semaphore = client.Semaphore("/semaphore/leases", probe.name, max_leases=1)
    for _ in probe.rounds():
        probe.attempts("/semaphore")
        with semaphore:
            probe.enters("/semaphore", semaphore.create_path)
            probe.write()
            probe.work()
            probe.write()
            probe.leaves("/semaphore")
        probe.released("/semaphore")
