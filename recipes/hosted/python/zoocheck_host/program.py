"""The program: loaded once, and run anew in each life."""

import asyncio
import functools
import importlib.util
import inspect
import os
import platform
import re
import struct
import sys
import traceback

import kazoo.client
import kazoo.exceptions
import kazoo.version

from greenlet import GreenletExit

from zoocheck_host import clock, exits, handler, host, loop, scheduler, unheard
from zoocheck_host.kept import Kept
from zoocheck_host.probe import Probe
from zoocheck_host.words import Tellers

DONE, SESSION_LOST, FAILED, EXITED, LEFT = 0, 1, 2, 3, 4
# Whoever meets with one of these has lost its session, and may begin anew with another one.
SESSION_ENDS = (kazoo.exceptions.SessionExpiredError, kazoo.exceptions.ConnectionClosedError)
# By which Python tells objects apart: they are others in each process.
ADDRESSES = re.compile(r"\bat 0x[0-9A-Fa-f]+")


class Program:
    """`lock.py:worker`: a file and a function in it, which takes a client and a probe, or a probe alone and makes a client."""

    def __init__(self, name):
        path, _, function = name.rpartition(":")
        if not path or not function.isidentifier():
            raise ValueError("expected FILE.py:FUNCTION")
        self.path, self.function = path, function
        self.folder = os.path.dirname(os.path.abspath(path))
        sys.path.insert(0, self.folder)
        built_in = importlib.util.find_spec("zoocheck_host.built_in")
        if built_in is None:
            with open(path, "rb") as file:
                source = file.read()
        else:
            source = built_in.loader.get_source(built_in.name)
        self.code = compile(source, path, "exec")
        # Those that stay; as long as it is loaded for the first time, all.
        self.modules = None
        self.kept = Kept(self.stays)
        self.loaded()
        self.modules = set(sys.modules)
        self.forget()

    def who(self):
        return "%s %s with kazoo %s" % (
            platform.python_implementation(),
            platform.python_version(),
            kazoo.version.__version__,
        )

    def loaded(self):
        """The function, of a module that nobody has run in before."""
        name = os.path.splitext(os.path.basename(self.path))[0]
        module = type(sys)(name)
        module.__file__ = self.path
        sys.modules[name] = module
        exec(self.code, module.__dict__)
        function = getattr(module, self.function, None)
        if not callable(function):
            raise AttributeError("%s has no function %s" % (self.path, self.function))
        return function

    def forget(self):
        """A life is over, and nothing of it is left."""
        handler.begin(None)
        for name, module in list(sys.modules.items()):
            if not self.stays(name, module):
                sys.modules.pop(name, None)
        self.kept.restore()

    def stays(self, name, module):
        """Whether a module is loaded once for all lives. Those beside the program may remember something."""
        path = getattr(module, "__file__", None) or ""
        is_known = self.modules is None or name in self.modules or is_of_an_extension(path)
        return is_known and not self.owns(path)

    def owns(self, path):
        """Whether a file is the program's or one beside it."""
        is_a_file = path and not path.startswith("<") and "site-packages" not in path
        return bool(is_a_file) and os.path.abspath(path).startswith(self.folder + os.sep)

    def life(self, *arguments):
        return Life(self, *arguments)


@functools.cache
def is_of_an_extension(path):
    """Whether a file is of an installed package that is compiled, at least in part: such a one cannot be loaded twice."""
    before, _, within = path.rpartition("site-packages" + os.sep)
    if not before:
        return False
    name, is_within, _ = within.partition(os.sep)
    files = os.walk(os.path.join(before, "site-packages", name)) if is_within else [("", (), (name,))]
    return any(name.endswith((".so", ".pyd")) for _, _, names in files for name in names)


def is_of_the_start(error):
    """Whether a client that the program starts has found no server in time, or lost it: so it is begun again."""
    codes = (frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__))
    return kazoo.client.KazooClient.start.__code__ in codes


def makes_its_client(function):
    kinds = [it.kind for it in inspect.signature(function).parameters.values()]
    return kinds in ([inspect.Parameter.POSITIONAL_ONLY], [inspect.Parameter.POSITIONAL_OR_KEYWORD])


class Life:
    """One life: the program's threads and connections, and what they want done."""

    def __init__(self, program, turns, name, process, clients, rounds, servers, timeout_ms):
        self.turns, self.now, self.owns = turns, clock.now, program.owns
        self.outputs = []
        self.has_ended = self.thread_has_failed = self.has_unheard_errors = False
        # Why it is to fail though its main thread has not.
        self.why = None
        self.client = self.handler = None
        self.servers = servers
        self.connections = {}
        self.sockets = 0
        self.asks = 0
        # Of what was asked: who waits, and what has come of it.
        self.waiting = {}
        self.done = {}
        self.tellers = Tellers(loop.task, lambda: sys.audit("zoocheck.tells"))
        self.probe = Probe(self, name, process, clients, rounds)
        handler.begin(self)
        turns.spawn(lambda: self.runs(program, timeout_ms / 1000))

    def runs(self, program, timeout):
        try:
            function = program.loaded()
            if makes_its_client(function):
                done = function(self.probe)
            else:
                self.client = kazoo.client.KazooClient(self.servers, timeout=timeout)
                self.client.start_async().wait()
                done = function(self.client, self.probe)
            if asyncio.iscoroutine(done):
                asyncio.run(done)
            end = DONE
        except SESSION_ENDS as error:
            self.raises(error)
            end = SESSION_LOST
        except SystemExit as error:
            # As Python has it: without a status, or with 0, all is well.
            end = LEFT
            if error.code is not None and error.code != 0:
                self.raises(error)
                end = EXITED
        except GreenletExit:
            # The life is over.
            raise
        except BaseException as error:
            end = self.fails(error)
            if is_of_the_start(error):
                end = EXITED
        if end in (DONE, LEFT):
            scheduler.exits()
        exits.run(self.raises)
        if end in (DONE, LEFT):
            unheard.end(self.unheard)
        self.ends(end)
        if end == LEFT:
            self.turns.stop()

    def fails(self, error):
        self.raises(error)
        return FAILED

    def thread_ends(self, error):
        """In the place of `threading.excepthook`: Python goes on without the thread, as if nothing were wrong."""
        self.thread_has_failed |= self.is_defect(error)

    def unheard(self, error):
        """Nobody may miss what came of it if the main thread has failed, or has lost its session."""
        self.has_unheard_errors |= self.is_defect(error)

    def is_defect(self, error):
        why = self.raises(error)
        is_defect = not isinstance(error, SESSION_ENDS)
        self.why = self.why or (why if is_defect else None)
        return is_defect

    def ends(self, end):
        has_failed = self.thread_has_failed and end != EXITED or self.has_unheard_errors and end in (DONE, LEFT)
        if has_failed and end != FAILED:
            # Once more: it is why it ends so.
            end = FAILED
            self.prints(self.why)
        # It may be about to close a connection that it takes for lost.
        if end == EXITED and self.client is not None and not self.client.connected:
            for number in list(self.connections):
                self.close(number)
        if not self.has_ended:
            self.outputs.append(struct.pack(">BB", 7, end))
        self.has_ended = True

    def exits(self, status, by):
        """In the place of `os._exit`, or by a signal: whatever thread calls it, none goes on, and the servers hear no more of its client."""
        self.prints("%s(%s) (%s)" % (by, status, host.place(sys._getframe(2))))
        self.ends(LEFT if status == 0 else EXITED)
        self.turns.stop()

    # What happens to it.

    def connected(self, number):
        if number in self.connections:
            self.connections[number].connected()

    def ended(self, number):
        if number in self.connections:
            self.connections[number].end()

    def data(self, number, data):
        if number in self.connections:
            self.connections[number].feed(data)

    def is_done(self, number, accepted):
        self.done[number] = accepted
        self.waiting.pop(number).wake()

    # What it wants done.

    def connect(self, address):
        self.sockets += 1
        connection = self.connections[self.sockets] = handler.Connection(self, self.sockets, address)
        self.outputs.append(struct.pack(">BI", 1, self.sockets) + host.text("%s:%d" % tuple(address[:2])))
        return connection

    def send(self, number, data):
        self.outputs.append(struct.pack(">BII", 2, number, len(data)) + data)

    def close(self, number):
        if self.connections.pop(number, None) is not None:
            self.outputs.append(struct.pack(">BI", 3, number))

    def says(self, thread, word, about, what, number):
        words = host.text(word) + host.text(about) + host.text(what)
        self.outputs.append(struct.pack(">BB", 4, thread) + words + struct.pack(">q", number))

    def prints(self, line):
        self.outputs.append(b"\x08" + host.text(ADDRESSES.sub("at 0x…", line)))

    def raises(self, error):
        for line in host.told(error, self.owns):
            self.prints(line)
        return line

    def work(self):
        self.asks += 1
        self.outputs.append(struct.pack(">BI", 5, self.asks))
        return self.asks

    def write(self, thread):
        self.asks += 1
        self.outputs.append(struct.pack(">BIB", 6, self.asks, thread))
        return self.asks

    def take(self):
        outputs, self.outputs = self.outputs, []
        return outputs
