"""One client process of `zoocheck drive`: `python -m zoocheck_live lock.py:worker`.

The same file and function that `zoocheck run` hosts, with kazoo's own threads, in real time.
"""

import asyncio
import importlib.util
import inspect
import os
import random
import sys
import threading
import time
import traceback

import kazoo.client
import kazoo.exceptions

from zoocheck_host import unheard
from zoocheck_live.http import Refused
from zoocheck_live.probe import Probe

# Whoever meets with one of these has lost its session, and may begin anew with another one.
SESSION_ENDS = (kazoo.exceptions.SessionExpiredError, kazoo.exceptions.ConnectionClosedError)


def function(name):
    path, _, function = name.rpartition(":")
    if not path or not function.isidentifier():
        sys.exit("python -m zoocheck_live: expected FILE.py:FUNCTION, found '%s'" % name)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


def leave_with_stdin():
    """It ends when whoever started this is gone."""
    sys.stdin.buffer.read()
    os._exit(0)


class Failures:
    """Errors that end a thread, or that nobody hears of, after which Python goes on as if nothing were wrong."""

    def __init__(self):
        self.any = False
        threading.excepthook = self.thread_ends
        self._logs, asyncio.BaseEventLoop.default_exception_handler = (
            asyncio.BaseEventLoop.default_exception_handler,
            self.loop_goes_on,
        )
        unheard.install(self.hears)

    def hears(self, error):
        self.any |= not isinstance(error, (*SESSION_ENDS, SystemExit))

    def thread_ends(self, arguments):
        threading.__excepthook__(arguments)
        self.hears(arguments.exc_value)

    def loop_goes_on(self, loop, context):
        self._logs(loop, context)
        self.hears(context.get("exception"))


def main():
    worker = function(*sys.argv[1:2] or [""])
    if len(inspect.signature(worker).parameters) == 1:
        sys.exit("python -m zoocheck_live: expected a function of a client and a probe; one of a probe alone is for zoocheck run")
    failures = Failures()
    threading.Thread(target=leave_with_stdin, daemon=True).start()
    told = {name: os.environ["ZOOCHECK_" + name] for name in ("SERVERS", "CONTROL", "NAME")}
    number = lambda name: int(os.environ["ZOOCHECK_" + name])
    random.seed("%d %s" % (number("SEED"), told["NAME"]))
    client = kazoo.client.KazooClient(told["SERVERS"], timeout=number("SESSION_TIMEOUT_MS") / 1000)
    # `start` gives up if the connection is lost again at once.
    client.start_async().wait()
    probe = Probe(
        told["CONTROL"], client, told["NAME"], number("CLIENT"), number("CLIENTS"), number("ROUNDS")
    )
    try:
        done = worker(client, probe)
        if asyncio.iscoroutine(done):
            asyncio.run(done)
        end = "done"
    except SESSION_ENDS:
        end = "session-lost"
    except SystemExit as error:
        # The status tells how it has ended.
        if failures.any and not error.code:
            sys.exit(1)
        raise
    except BaseException:
        traceback.print_exc()
        end = "failed"
    if end == "done":
        unheard.end(failures.hears)
        end = "failed" if failures.any else end
    try:
        probe.finishes(end)
    except Refused as why:
        sys.exit("python -m zoocheck_live: %s" % why)
    # Its session stays, so that what it has left behind can be judged.
    while True:
        time.sleep(3600)


main()
