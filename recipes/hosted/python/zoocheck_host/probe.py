"""What a program says of itself in a simulation."""

import sys
import threading

from zoocheck_host import loop
from zoocheck_host.scheduler import Waiter, current
from zoocheck_host.words import Words


class Probe(Words):
    """Given to the program's function."""

    def __init__(self, life, name, process, clients, rounds, thread=0):
        super().__init__(name, process, clients, rounds)
        self._life, self._thread = life, thread

    def thread(self, number):
        """The probe of another thread, from 1 on, which asks for something of its own on the same session."""
        if not 1 <= number <= 255:
            raise ValueError("threads are numbered from 1 to 255; the main one is 0")
        return Probe(self._life, self.name, self.process, self.clients, self._rounds, number)

    def work(self):
        """Works for a while, mostly short, at times longer than a session lives in silence."""
        self._waits(self._life.work)

    def write(self):
        """Writes to the resource that the lock is to protect. It travels, and may come late."""
        return self._waits(lambda: self._life.write(self._thread))

    def _waits(self, ask):
        number = ask()
        waiter = Waiter()
        self._life.waiting[number] = waiter
        current.scheduler.wait(waiter)
        return self._life.done.pop(number)

    def _says(self, word, about, what="", number=0):
        if number != int(number):
            raise ValueError("%r is no whole number" % number)
        self._life.tellers.tells(self._thread, word, str(about))
        self._life.says(self._thread, word, str(about), str(what), int(number))


class Tellers:
    """Which thread or task is at each lock, by the number by which it tells so.

    Two at a time would be taken for one that has the lock twice.
    """

    def __init__(self):
        self._at = {}

    def tells(self, number, word, lock):
        if word in ("leaves", "released", "gives-up"):
            self._at.pop((number, lock), None)
        elif word in ("attempts", "granted", "shares"):
            me = loop.task() or threading.current_thread()
            who, is_in = self._at.get((number, lock), (me, False))
            # One may ask for another, who enters then.
            if who is not me and is_at_work(who) and (is_in or word == "attempts"):
                sys.audit("zoocheck.tells")
            self._at[number, lock] = me, word != "attempts" or (is_in and who is me)


def is_at_work(who):
    return who.is_alive() if isinstance(who, threading.Thread) else not who.done()
