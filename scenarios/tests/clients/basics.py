"""What kazoo's users do, on the server at HOST:PORT. Says what was done, fails with a traceback.

    basics.py HOST:PORT
"""

import signal
import subprocess
import sys
import threading

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import (
    BadVersionError,
    NoAuthError,
    NoNodeError,
    NodeExistsError,
    NotEmptyError,
    RolledBackError,
)
from kazoo.security import make_digest_acl

ADDRESS = sys.argv[1]
PATIENCE = 30


def client(**options):
    options.setdefault("timeout", 4)
    started = KazooClient(hosts=ADDRESS, **options)
    started.start(timeout=PATIENCE)
    return started


def raises(error, do, *args, **options):
    try:
        do(*args, **options)
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")


def reads_what_was_written(zk):
    zk.ensure_path("/basics/a/b")
    path, stat = zk.create("/basics/n", b"one", include_data=True)
    assert (path, stat.version, stat.data_length) == ("/basics/n", 0, 3), (path, stat)
    assert zk.set("/basics/n", b"two", version=0).version == 1
    data, stat = zk.get("/basics/n")
    assert (data, stat.version) == (b"two", 1), (data, stat)
    raises(BadVersionError, zk.set, "/basics/n", b"three", version=0)
    raises(NodeExistsError, zk.create, "/basics/n")
    raises(NotEmptyError, zk.delete, "/basics/a")
    raises(NoNodeError, zk.get, "/basics/none")
    assert sorted(zk.get_children("/basics")) == ["a", "n"]
    assert zk.exists("/basics/none") is None
    assert zk.sync("/basics") == "/basics"


def numbers_children_in_order(zk):
    zk.ensure_path("/basics/q")
    made = [zk.create("/basics/q/n-", sequence=True) for _ in range(3)]
    assert made == [f"/basics/q/n-{n:010}" for n in range(3)], made


def does_all_of_a_transaction_or_nothing(zk):
    transaction = zk.transaction()
    transaction.create("/basics/t", b"x")
    transaction.set_data("/basics/t", b"y")
    transaction.check("/basics/t", 1)
    path, stat, checked = transaction.commit()
    assert (path, stat.version, checked) == ("/basics/t", 1, True), (path, stat, checked)
    transaction = zk.transaction()
    transaction.create("/basics/u")
    transaction.delete("/basics/none")
    created, deleted = transaction.commit()
    assert isinstance(created, RolledBackError) and isinstance(deleted, NoNodeError), (created, deleted)
    assert zk.exists("/basics/u") is None


def is_told_of_changes_by_others(zk):
    other = client()
    told, events = threading.Event(), []

    def watch(event):
        events.append((event.type, event.path))
        told.set()

    zk.ensure_path("/basics/w")
    for look, change, expected in [
        (lambda: zk.get_children("/basics/w", watch=watch), lambda: other.create("/basics/w/c"), "CHILD"),
        (lambda: zk.get("/basics/w/c", watch=watch), lambda: other.set("/basics/w/c", b"1"), "CHANGED"),
        (lambda: zk.exists("/basics/w/c", watch=watch), lambda: other.delete("/basics/w/c"), "DELETED"),
        (lambda: zk.exists("/basics/w/c", watch=watch), lambda: other.create("/basics/w/c"), "CREATED"),
    ]:
        told.clear()
        look()
        change()
        assert told.wait(PATIENCE), f"nobody told of {expected}"
        assert events[-1][0] == expected, events
    other.stop()


def honours_access_lists(zk):
    acl = make_digest_acl("user", "secret", all=True)
    zk.create("/basics/secret", b"s", acl=[acl])
    raises(NoAuthError, zk.get, "/basics/secret")
    known = client(auth_data=[("digest", "user:secret")])
    assert known.get("/basics/secret")[0] == b"s"
    assert known.get_acls("/basics/secret")[0] == [acl]
    known.stop()


def loses_ephemerals_with_their_session(zk):
    other = client()
    other.create("/basics/e", ephemeral=True)
    assert zk.exists("/basics/e").ephemeralOwner == other.client_id[0]
    gone = threading.Event()
    zk.exists("/basics/e", watch=lambda event: gone.set())
    other.stop()
    assert gone.wait(PATIENCE)
    assert zk.exists("/basics/e") is None


def keeps_its_session_over_a_reconnection(zk):
    other = client()
    other.create("/basics/r", ephemeral=True)
    session, seen, back = other.client_id[0], [], threading.Event()

    def listen(state):
        seen.append(state)
        if state == KazooState.CONNECTED:
            back.set()

    other.add_listener(listen)
    fired = threading.Event()
    other.get("/basics/r", watch=lambda event: fired.set())
    other._connection._socket.shutdown(2)
    assert back.wait(PATIENCE), seen
    assert seen[0] == KazooState.SUSPENDED and other.client_id[0] == session, seen
    assert zk.exists("/basics/r").ephemeralOwner == session
    zk.set("/basics/r", b"changed")
    assert fired.wait(PATIENCE), "the watch was not registered again"
    other.stop()


SILENT = """
import sys, time
from kazoo.client import KazooClient
zk = KazooClient(hosts=sys.argv[1], timeout=1)
zk.start()
zk.create("/basics/x", ephemeral=True)
print(zk.client_id[0], zk.client_id[1].hex(), flush=True)
time.sleep(3600)
"""


def expires_when_silent(zk):
    other = subprocess.Popen([sys.executable, "-c", SILENT, ADDRESS], stdout=subprocess.PIPE, text=True)
    try:
        session, password = other.stdout.readline().split()
        gone = threading.Event()
        zk.exists("/basics/x", watch=lambda event: gone.set())
        # The process stops: nothing is sent, and the connection is not closed.
        other.send_signal(signal.SIGSTOP)
        assert gone.wait(PATIENCE), "it lives for ever"
    finally:
        other.kill()
        other.wait()
    late = client(client_id=(int(session), bytes.fromhex(password)))
    assert late.client_id[0] != int(session), "an expired session was taken up again"
    late.stop()


def main():
    zk = client()
    if zk.exists("/basics"):
        zk.delete("/basics", recursive=True)
    for part in [
        reads_what_was_written,
        numbers_children_in_order,
        does_all_of_a_transaction_or_nothing,
        is_told_of_changes_by_others,
        honours_access_lists,
        loses_ephemerals_with_their_session,
        keeps_its_session_over_a_reconnection,
        expires_when_silent,
    ]:
        part(zk)
        print(part.__name__.replace("_", " "), flush=True)
    zk.stop()


main()
