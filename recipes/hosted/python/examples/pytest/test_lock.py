"""kazoo's lock on three servers while their leader crashes and a holder's session expires, and a lock that is none.

    pytest test_lock.py
"""

import threading
import time

import kazoo.client
import kazoo.exceptions
import pytest

from zoocheck_live.http import Refused

CLIENTS, ROUNDS, WITHIN_S = 3, 4, 90
LOST = (kazoo.exceptions.SessionExpiredError, kazoo.exceptions.ConnectionLoss)


class Nothing:
    """A lock that locks nothing."""

    node = None

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def work(client, probe, a_lock):
    for _ in probe.rounds():
        # An object for each attempt: kazoo's lock does not survive the end of its session.
        lock = a_lock(client, probe.name)
        probe.attempts("/lock")
        try:
            with lock:
                probe.enters("/lock", lock.node)
                probe.write()
                probe.work()
                probe.write()
                probe.leaves("/lock")
            probe.released("/lock")
        except LOST as error:
            probe.gives_up("/lock", error)
    probe.finishes()


def contend(zoocheck, a_lock):
    """Clients at work, each in a thread; gives them when all have finished."""
    clients = [kazoo.client.KazooClient(zoocheck.servers, timeout=4) for _ in range(CLIENTS)]
    threads = []
    for client in clients:
        client.start()
        told = (client, zoocheck.probe(client, CLIENTS, ROUNDS), a_lock)
        threads.append(threading.Thread(target=work, args=told, daemon=True))
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(WITHIN_S)
        assert not thread.is_alive(), zoocheck.verdict()
    yield clients


def expire_a_holder(zoocheck):
    """Ends the session of one that waits for the lock, or has it."""
    while True:
        for session in zoocheck.sessions():
            if session["ephemerals"]:
                try:
                    return zoocheck.fault("expire", session=session["id"])
                except Refused:
                    # It has ended meanwhile, or nobody leads just now.
                    pass
        time.sleep(0.01)


@pytest.mark.zoocheck(promises=["fair-lock=/lock"], servers=3, tick_ms=200)
def test_kazoos_lock_holds_while_the_leader_crashes_and_a_session_expires(zoocheck):
    contention = contend(zoocheck, lambda client, name: client.Lock("/lock", name))
    next(contention)
    zoocheck.fault("leader-crash", down_ms=500)
    expire_a_holder(zoocheck)
    clients = next(contention)
    zoocheck.assert_held()
    for client in clients:
        client.stop()


@pytest.mark.zoocheck(promises=["fair-lock=/lock"], tick_ms=200)
def test_a_lock_that_locks_nothing_is_found_out(zoocheck):
    contention = contend(zoocheck, lambda client, name: Nothing())
    next(contention)
    clients = next(contention)
    with pytest.raises(AssertionError, match="exclusion-among-live-sessions is broken: p[0-2] holds /lock while"):
        zoocheck.assert_held()
    assert zoocheck.stop() == 1
    for client in clients:
        client.stop()
