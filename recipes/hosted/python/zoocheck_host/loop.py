"""asyncio and concurrent.futures on threads that take turns."""

import sys

# What is written in Python asks which thread runs, and lets its tasks be told apart by something else than their addresses.
sys.modules["_asyncio"] = None

import asyncio
import concurrent.futures.thread
import itertools
import signal
import threading

from zoocheck_host.scheduler import number


def _outside(event):
    """Does what a program must not do: see `clock.forbid`."""

    async def refused(_self, *_arguments, **_named):
        sys.audit(event)

    return refused


class Loop(asyncio.BaseEventLoop):
    """An event loop that waits for its timers and its threads: connections would lead out of the simulation."""

    # Of this life.
    all = []

    def __init__(self):
        super().__init__()
        self.all.append(self)
        self._selector = self
        self._called = threading.Event()

    def select(self, timeout):
        if timeout != 0:
            self._called.wait(timeout)
        self._called.clear()
        return ()

    def _process_events(self, _events):
        pass

    def _write_to_self(self):
        self._called.set()

    def default_exception_handler(self, context):
        """Of what goes wrong in a callback, or in a task that nobody asks."""
        if context.get("exception") is not None:
            self.tell(context["exception"])
        super().default_exception_handler(context)

    def add_signal_handler(self, number, callback, *arguments):
        signal.signal(number, lambda *_: self.call_soon_threadsafe(callback, *arguments))

    def remove_signal_handler(self, number):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    create_connection = create_datagram_endpoint = create_unix_connection = _outside("socket.connect")
    create_unix_server = _outside("socket.bind")
    subprocess_exec = subprocess_shell = _outside("subprocess.Popen")


def install(tell):
    """`tell` is told of errors that nobody handles."""
    Loop.tell = staticmethod(tell)
    asyncio.DefaultEventLoopPolicy._loop_factory = Loop
    for module in (asyncio, asyncio.unix_events):
        module.SelectorEventLoop = module.EventLoop = Loop
    for made in (asyncio.Future, concurrent.futures.Future):
        made.__hash__ = number
    # It locks futures in the order of their addresses.
    concurrent.futures._base.id = number


def begin():
    """A life begins: nothing is left of the former one."""
    asyncio.tasks._task_name_counter = itertools.count(1).__next__
    asyncio.events._event_loop_policy = None
    concurrent.futures.thread.ThreadPoolExecutor._counter = itertools.count().__next__
    sys.set_asyncgen_hooks(None, None)
    Loop.all.clear()


def task():
    """The one that the running thread is at, if there is one."""
    for loop in Loop.all:
        if loop._thread_id == threading.get_ident():
            return asyncio.current_task(loop)


def frames():
    """Where coroutines stand: first those whose turn it is."""
    for loop in Loop.all:
        ready = [getattr(handle._callback, "__self__", None) for handle in loop._ready]
        for task in [*ready, *asyncio.all_tasks(loop)]:
            if isinstance(task, asyncio.Task):
                yield from task.get_stack(limit=1)
