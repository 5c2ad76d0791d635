"""Signals. None comes from outside, as nothing does: a program has what it sends itself, at once."""

import _thread
import errno
import os
import signal
import sys
import time

from zoocheck_host import scheduler

# What is done about each that a life has said it of.
handlers = {}
# What Python does about these, and what they do if nobody does anything.
_HANDLED = {signal.SIGINT: signal.default_int_handler, signal.SIGPIPE: signal.SIG_IGN, signal.SIGXFSZ: signal.SIG_IGN}
_HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
# Of time outside, between two looks at whether the program waits for something else than its turn.
LOOK_SECONDS = 5

_set_timer, _set_handler, _work = signal.setitimer, signal.signal, time.process_time


class Watch:
    """Looks whether the program is still at the answer that it was at, and has done nothing since."""

    def __init__(self, waits):
        self.answers, self.seen, self.waits = 0, None, waits
        _set_handler(signal.SIGALRM, self.looks)
        _set_timer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)

    def looks(self, _signal, frame):
        # Even a machine that is busy with something else leaves it more than that.
        seen, self.seen = self.seen, (self.answers, int(_work() * 1_000))
        if self.answers % 2 == 1 and seen == self.seen:
            self.waits(frame)


def limits_work(seconds, spins):
    """Calls `spins` once so much processor time has passed; never if it is 0."""
    if seconds > 0:
        _set_handler(signal.SIGPROF, spins)
    _set_timer(signal.ITIMER_PROF, seconds)


def get(number):
    number = signal.Signals(number)
    return handlers.get(number, _HANDLED.get(number, signal.SIG_DFL))


def handle(number, handler):
    """In the place of `signal.signal`."""
    before = get(number)
    if number in (signal.SIGKILL, signal.SIGSTOP):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if not callable(handler) and handler not in (signal.SIG_IGN, signal.SIG_DFL):
        raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
    handlers[signal.Signals(number)] = handler
    return before


def install(complain, exits):
    """`exits` ends the program with a status, by something; `complain` tells of what must not be done."""

    def send(number):
        handler = get(number)
        if callable(handler) and handler not in (signal.SIG_IGN, signal.SIG_DFL):
            scheduler.current.scheduler.in_main_thread(lambda: handler(number, sys._getframe()))
        elif handler == signal.SIG_DFL and number not in _HARMLESS:
            exits(128 + number, signal.Signals(number).name)

    def kill(pid, number):
        if pid not in (0, os.getpid()):
            complain("it sends a signal to another process")
        if number != 0:
            send(number)

    def refuse(what, *, but_none=False):
        # To call off what is not there is nothing.
        return lambda *arguments: 0 if but_none and not any(arguments[-1:]) else complain(what)

    os.kill, signal.raise_signal, signal.signal, signal.getsignal = kill, send, handle, get
    _thread.interrupt_main = lambda number=signal.SIGINT: send(number)
    os.abort = lambda: send(signal.SIGABRT)
    os.killpg = signal.pthread_kill = refuse("it sends a signal to others")
    signal.alarm = refuse("it sets a timer of the operating system", but_none=True)
    signal.setitimer = lambda _which, seconds, _interval=0: signal.alarm(seconds) or (0.0, 0.0)
    for name in ("pause", "sigwait", "sigwaitinfo", "sigtimedwait"):
        setattr(signal, name, refuse("it waits for a signal"))


def begin():
    """A life begins: nothing is left of the former one."""
    handlers.clear()
