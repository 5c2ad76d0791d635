"""Threads that take turns: which of those that are ready runs is drawn, and nobody else runs meanwhile.

Only the lock is made here. Conditions, events, semaphores and queues are those of Python's own `threading` and `queue`, which
stand on it: so what they mean is what they mean anywhere.
"""

import builtins
import heapq
import importlib
import itertools
# Its locks, which only first calls take, are to be nobody's turn: what a worker has done before must not show.
import logging
import queue
import random
import sys
import threading
import time

from greenlet import GreenletExit, getcurrent, greenlet

assert logging

# A thread that has taken so many turns, or locks, without a rest loses its turn for a while; and after each so many more, for so
# much longer.
TURNS, TURNS_MORE, TIRED_NS = 1_000, 100, 1_000_000
# No thread takes as many, and that is more than a minute.
TURNS_MAX = 40_000
# Who sleeps for so many seconds is not to be taken for one that waits for ever.
SLEEPS_LONG = 10


class Spins(BaseException):
    """A thread would never rest, or never go on. It is where this frame is."""

    def __init__(self, frame, how="it spins"):
        self.frame, self.how = frame, how


class Scheduler:
    """The threads of one life."""

    def __init__(self, now, seed, stands_still, stands_still_ns):
        self.now = now
        self.random = random.Random(seed)
        self.stands_still = stands_still
        self.stands_still_ns = stands_still_ns
        self.ready = []
        self.timers = []
        self.numbers = itertools.count()
        self.main_thread = _MainThread()
        self.tasks = []
        # The one of the main thread, what that waits for, and what it is to raise when it goes on.
        self.main = self.waits = self.raises = None
        self.hub = getcurrent()
        self.switches = 0
        self.sleeps = []
        # When a tired thread last went on, or will.
        self.tired_until = 0
        self.dead = self.stopped = False

    def spawn(self, function):
        """A thread that begins to run `function` when it is its turn."""
        task = greenlet(function, parent=self.hub)
        task.turns = 0
        self.main = self.main or task
        self.tasks.append(task)
        self.make_ready(task)
        return task

    def call_at(self, at_ns, function):
        """Calls `function` at a time, outside of all threads. What is given is to be emptied to call it off."""
        timer = [at_ns, next(self.numbers), function]
        heapq.heappush(self.timers, timer)
        return timer

    def long_sleeps(self):
        """Of what sleeps for long since this was asked last, for how many nanoseconds."""
        slept, self.sleeps = self.sleeps, []
        return slept

    def make_ready(self, task):
        """It may run now, or stands still for a while first."""
        if self.stopped:
            return
        if self.draws_a_pause():
            self.call_at(self.now.steady + self.pause(), lambda: self.ready.append(task))
        else:
            self.ready.append(task)

    def draws_a_pause(self):
        return self.stands_still > 0 and self.random.randrange(64) < self.stands_still

    def pause(self):
        return self.random.randrange(self.stands_still_ns) + 1

    def wait(self, waiter, timeout=None):
        """The thread that runs waits until the waiter is woken, or for so many seconds. Gives whether it was woken."""
        timer = None
        if timeout is not None:
            # Rounded up, so that whoever looks at the clock then sees that it is over.
            after = max(1, int(timeout * 1e9 + 0.999)) if timeout > 0 else 0
            timer = self.call_at(self.now.steady + after, waiter.time_is_up)
        since = self.now.steady
        if getcurrent() is self.main:
            self.waits = waiter
        try:
            self.switch()
        except BaseException:
            waiter.is_over = True
            if timer is not None:
                timer[2] = None
            raise
        # It has had no rest where it waited for one that takes turns without end, maybe with it.
        if timeout != 0 and self.now.steady > max(since, self.tired_until):
            getcurrent().turns = 0
        if timer is not None:
            timer[2] = None
        return waiter.woken

    def sleep(self, seconds):
        if seconds >= SLEEPS_LONG:
            self.sleeps.append(int(seconds * 1e9))
        self.wait(Waiter(), seconds)

    def switch(self):
        if self.dead:
            raise GreenletExit()
        if getcurrent() is self.hub:
            raise RuntimeError("what waits must run in a thread of the program")
        self.hub.switch()
        if self.dead:
            raise GreenletExit()
        if self.raises is not None and getcurrent() is self.main:
            error, self.raises = self.raises, None
            raise error

    def in_main_thread(self, function):
        """Calls it as the handler of a signal is called: what it raises, the main thread does."""
        try:
            function()
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            if getcurrent() is self.main or self.main.dead:
                raise
            self.raises = error
            if self.waits is not None:
                self.waits.time_is_up()

    def takes_a_turn(self):
        """A thread can lose its turn anywhere: here at least, if it is drawn, or if it takes turns without end.

        In real time, whoever tries again at once does so until something has changed: so time is to go on here, too.
        """
        task = getcurrent()
        if self.dead or task is self.hub:
            return
        task.turns += 1
        if task.turns >= TURNS_MAX:
            self.hub.throw(Spins(sys._getframe()))
        elif task.turns >= TURNS and task.turns % TURNS_MORE == 0:
            tired_ns = TIRED_NS * (1 + (task.turns - TURNS) // TURNS_MORE)
            self.tired_until = max(self.tired_until, self.now.steady + tired_ns)
            self.loses_its_turn(task, tired_ns)
            self.tired_until = max(self.tired_until, self.now.steady)
        elif self.draws_a_pause():
            self.loses_its_turn(task, self.pause())

    def loses_its_turn(self, task, for_ns):
        self.call_at(self.now.steady + for_ns, lambda: self.ready.append(task))
        self.switch()

    def run(self):
        """Runs until all wait. Gives when the next timer is due."""
        self.switches = 0
        while True:
            while self.timers and (self.timers[0][2] is None or self.timers[0][0] <= self.now.steady):
                function = heapq.heappop(self.timers)[2]
                if function is not None:
                    function()
            if not self.ready:
                break
            at = self.random.randrange(len(self.ready)) if len(self.ready) > 1 else 0
            task = self.ready.pop(at)
            self.switches += 1
            if not task.dead:
                task.switch()
        self.tasks = [task for task in self.tasks if not task.dead]
        return self.timers[0][0] if self.timers else None

    def stop(self):
        """No thread runs any more, not even the one that calls this, until all are killed."""
        self.stopped = True
        self.ready.clear()
        self.timers.clear()
        self.switch()

    def kill(self):
        """Ends all threads, wherever they are. Gives whether they have."""
        self.dead = True
        for task in self.tasks:
            for _ in range(100):
                if task.dead:
                    break
                task.throw(GreenletExit())
        return all(task.dead for task in self.tasks)


class Nobody:
    """In the place of a scheduler, while no life is there."""

    dead = False
    hub = None
    tasks = ()

    def __init__(self):
        self.numbers = itertools.count()
        self.main_thread = _MainThread()

    def spawn(self, function):
        raise RuntimeError("a thread is started while the program is loaded")

    def wait(self, waiter, timeout=None):
        raise RuntimeError("the program waits while it is loaded")

    def sleep(self, seconds):
        self.wait(None, seconds)

    def takes_a_turn(self):
        pass


class Current:
    scheduler = excepthook = None
    # Of threads: for those that are given no name, and for those that are started beside the main one.
    names = idents = None


current = Current()


def number(thing):
    """In the place of an address, by which sets would iterate."""
    names = object.__getattribute__(thing, "__dict__")
    if "_number" not in names:
        names["_number"] = next(current.scheduler.numbers)
    return names["_number"]


def _numbers(build):
    """As `build`, by which classes are made: what is of a class without a hash of its own is numbered."""

    def made(*arguments, **named):
        kind = build(*arguments, **named)
        # Classes cannot be numbered; and what a protocol has in its own names is asked of whatever is said to keep it.
        is_other = not isinstance(kind, type) or issubclass(kind, type) or getattr(kind, "_is_protocol", False)
        if not is_other and kind.__hash__ is object.__hash__ and kind.__dictoffset__:
            type.__setattr__(kind, "__hash__", number)
        return kind

    return made


class Waiter:
    """One wait of one thread."""

    __slots__ = ("scheduler", "task", "is_over", "woken")

    def __init__(self):
        self.scheduler = current.scheduler
        self.task = getcurrent()
        self.is_over = False
        self.woken = False

    def wake(self):
        if not self.is_over:
            self.is_over = self.woken = True
            self.scheduler.make_ready(self.task)

    def time_is_up(self):
        if not self.is_over:
            self.is_over = True
            self.scheduler.make_ready(self.task)


def sleep(seconds):
    """In the place of `time.sleep`."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if seconds == 0:
        current.scheduler.takes_a_turn()
    current.scheduler.sleep(seconds)


class Lock:
    """As `threading.Lock`: not fair, and anybody may release it."""

    __hash__ = number

    def __init__(self):
        self._locked = False
        self._waiters = []

    def acquire(self, blocking=True, timeout=-1):
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        current.scheduler.takes_a_turn()
        until = None if timeout == -1 else time.monotonic() + timeout
        while self._locked:
            left = None if until is None else until - time.monotonic()
            if not blocking or (left is not None and left <= 0):
                return False
            waiter = Waiter()
            self._waiters.append(waiter)
            try:
                current.scheduler.wait(waiter, left)
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
        self._locked = True
        return True

    def release(self):
        if not self._locked:
            raise RuntimeError("release unlocked lock")
        self._locked = False
        if self._waiters:
            waiter = self._waiters.pop(current.scheduler.random.randrange(len(self._waiters)))
            waiter.wake()

    def locked(self):
        return self._locked

    def _at_fork_reinit(self):
        self.__init__()

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()


class Thread:
    """As `threading.Thread`."""

    __hash__ = number

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name = name or "Thread-%d" % next(current.names)
        self.daemon = _current_thread().daemon if daemon is None else bool(daemon)
        self.ident = self.native_id = None
        self._ended = threading.Event()

    def start(self):
        if self.ident is not None:
            raise RuntimeError("threads can only be started once")
        self.ident = self.native_id = next(current.idents)
        current.scheduler.spawn(self._runs).thread = self

    def _runs(self):
        try:
            self.run()
        except GreenletExit:
            raise
        except SystemExit:
            pass
        except BaseException as error:
            threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, self)))
        finally:
            if not current.scheduler.dead:
                self._ended.set()

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout=None):
        if self.ident is None:
            raise RuntimeError("cannot join thread before it is started")
        self._ended.wait(timeout)

    def is_alive(self):
        return self.ident is not None and not self._ended.is_set()

    def __repr__(self):
        state = "initial" if self.ident is None else "started" if self.is_alive() else "stopped"
        daemon, ident = " daemon" * self.daemon, "" if self.ident is None else " %d" % self.ident
        return "<%s(%s, %s%s%s)>" % (type(self).__name__, self.name, state, daemon, ident)

    # As older programs say it.

    def getName(self):
        return self.name

    def setName(self, name):
        self.name = name

    def isDaemon(self):
        return self.daemon

    def setDaemon(self, daemon):
        self.daemon = daemon


class _MainThread(Thread):
    """As `threading._MainThread`."""

    def __init__(self):
        super().__init__(name="MainThread", daemon=False)
        self.ident = self.native_id = 1


def exits():
    """As Python at its end: pools do what they were given and no more, and all threads but daemons come to their end."""
    # Imported when all this is in place.
    pools = sys.modules["concurrent.futures.thread"]
    pools._shutdown = True
    try:
        for thread, work in list(pools._threads_queues.items()):
            if thread in _alive():
                work.put(None)
        while left := [thread for thread in _alive()[1:] if not thread.daemon]:
            left[0].join()
    finally:
        # The next life has pools of its own.
        pools._shutdown = False


def _current_thread():
    return getattr(getcurrent(), "thread", None) or current.scheduler.main_thread


def _ident():
    return _current_thread().ident


def _alive():
    """The threads of this life, as `threading.enumerate` gives them."""
    threads = [getattr(task, "thread", None) for task in current.scheduler.tasks]
    return [current.scheduler.main_thread, *(thread for thread in threads if thread and thread.is_alive())]


def install(excepthook):
    """Makes `threading` take turns. `excepthook` is told of an error that ends a thread."""
    threading.Lock = threading._allocate_lock = Lock
    threading.RLock = threading._PyRLock
    threading._CRLock = None
    threading.get_ident = threading.get_native_id = _ident
    threading._time = queue.time = time.monotonic
    threading.Thread, threading._MainThread = Thread, _MainThread
    threading.Timer.__bases__ = (Thread,)
    queue.SimpleQueue = queue._PySimpleQueue
    threading.main_thread = lambda: current.scheduler.main_thread
    threading.current_thread = threading.currentThread = _current_thread
    threading.enumerate = _alive
    threading.active_count = threading.activeCount = lambda: len(_alive())
    current.excepthook = lambda thread: excepthook(thread.exc_value)
    for kind in (threading.Event, threading.Condition, threading.Semaphore, threading.Barrier, queue.Queue):
        kind.__hash__ = number
    builtins.__build_class__ = _numbers(builtins.__build_class__)
    # Written in Python, it asks which thread runs.
    threading.local = importlib.import_module("_threading_local").local
    begin(Nobody())


def begin(scheduler):
    current.names, current.idents = itertools.count(1), itertools.count(2)
    current.scheduler = scheduler
    threading.excepthook = current.excepthook
