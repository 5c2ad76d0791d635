"""kazoo's leases: who has got one works until it ends by its clock, and no longer.

    zoocheck run lease.py:worker --promises lock=/lease/0
    zoocheck run lease.py:of_many --promises lock=/lease/0

kazoo says that clocks are to be roughly the same: they differ by seconds here, which the margin allows for.
"""

import datetime
import time

LEASE_S, MARGIN_S = 15, 10


def worker(client, probe):
    takes(client, probe, lambda length: client.NonBlockingLease("/lease/0", length, probe.name))


def of_many(client, probe):
    takes(client, probe, lambda length: client.MultiNonBlockingLease(1, "/lease", length, probe.name))


def takes(client, probe, lease):
    for _ in probe.rounds():
        obtained = False
        while not obtained:
            probe.attempts("/lease/0")
            until = time.time() + LEASE_S - MARGIN_S
            obtained = bool(client.retry(lease, datetime.timedelta(seconds=LEASE_S))) and time.time() < until
            if not obtained:
                probe.gives_up("/lease/0", "somebody else has it")
                client.handler.sleep_func(0.3)
        probe.enters("/lease/0")
        while time.time() < until:
            client.handler.sleep_func(min(0.1, until - time.time()))
        probe.leaves("/lease/0")
        probe.released("/lease/0")
        client.handler.sleep_func(3)
