"""Programs that use what a process has of its operating system."""

import _thread
import asyncio
import datetime
import email.utils
import faulthandler
import io
import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time

from programs import holds


def uses_its_streams(client, probe):
    """As any process can, in each of its lives."""
    faulthandler.enable()
    assert sys.stdin.read() == ""
    sys.stdout.reconfigure(line_buffering=True)
    sys.stdout.writelines(["a line\n"])
    sys.stdout.buffer.write(b"bytes\n")
    try:
        os.isatty(sys.stdout.fileno())
    except OSError:
        sys.stdout = io.StringIO()
    holds(client, probe)


def handles_its_signals(client, probe):
    """Each is handled at once, and what a handler raises the main thread does."""
    told = []
    assert signal.signal(signal.SIGTERM, lambda number, _frame: told.append(number)) is signal.SIG_DFL
    os.kill(os.getpid(), 0)
    os.kill(os.getpid(), signal.SIGTERM)
    signal.raise_signal(signal.SIGCHLD)
    assert told == [signal.SIGTERM]
    threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        threading.Timer(1, _thread.interrupt_main).start()
    try:
        time.sleep(9)
    except KeyboardInterrupt:
        holds(client, probe)


def dies_of_a_signal(client, probe):
    """As if it had crashed, once it has the lock."""
    lock = client.Lock("/lock", probe.name)
    probe.attempts("/lock")
    with lock:
        probe.enters("/lock", lock.node)
        if probe.process == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        probe.leaves("/lock")
    probe.released("/lock")


def names_itself(client, probe):
    """By its address; and what it knows of the time can be stored."""
    name = socket.gethostname()
    address = socket.gethostbyname(name)
    assert socket.getaddrinfo(name, 80)[0][-1] == (address, 80) and socket.gethostbyname("localhost") == "127.0.0.1"
    now = datetime.datetime.now()
    assert pickle.loads(pickle.dumps(now)) == now and repr(now).startswith("datetime.datetime(")
    assert isinstance(email.utils.parsedate_to_datetime("Mon, 30 Nov 2026 15:00:00 +0000"), datetime.datetime)
    client.logger.addHandler(logging.StreamHandler())
    holds(client, probe)


async def stops_by_a_signal(client, probe):
    """The loop calls its handler."""
    stops = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stops.set)
    threading.Timer(1, os.kill, [os.getpid(), signal.SIGTERM]).start()
    await stops.wait()
    await asyncio.to_thread(holds, client, probe)


def hears_of_its_threads(client, probe):
    """By a hook of its own."""
    heard = []
    threading.excepthook = lambda thread: heard.append((thread.exc_type, thread.thread.name))
    thread = threading.Thread(target=int, args=["none"], name="reads")
    thread.start()
    thread.join()
    assert heard == [(ValueError, "reads")]
    holds(client, probe)


class Step:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        return None


def keeps_sets_of_its_own(client, probe):
    """What has no hash of its own comes in one order, in every process."""
    for step in {Step(name) for name in "abcdefgh"}:
        client.ensure_path("/lock/" + step.name)
        client.delete("/lock/" + step.name)
    events = {threading.Event(): name for name in "ijklmnop"}
    for event in frozenset(events):
        client.ensure_path("/lock/" + events[event])
        client.delete("/lock/" + events[event])


def stops_its_client(client, probe):
    """One gives back what it has by the end of its session, which another waits for."""
    if probe.process == 0:
        client.create("/n/e", ephemeral=True)
        time.sleep(2)
        client.stop()
        return
    while True:
        gone = threading.Event()
        if client.retry(client.exists, "/n/e", watch=lambda _event: gone.set()) is None:
            return
        gone.wait()
