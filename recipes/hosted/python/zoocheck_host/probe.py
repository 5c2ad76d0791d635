"""What a program says of itself in a simulation."""

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
