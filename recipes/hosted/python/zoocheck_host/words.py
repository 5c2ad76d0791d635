"""The words by which a program says what it does, so that promises can be judged."""

import threading


class Words:
    """Locks, queues and so on are named by the path that is owed something."""

    def __init__(self, name, process, clients, rounds):
        self.name, self.process, self.clients = name, process, clients
        self._rounds = rounds

    def rounds(self):
        """As often as it is to do what it does; fewer where a former life has done some."""
        return range(self._rounds)

    def attempts(self, lock):
        """It begins to ask for the lock."""
        if not lock.startswith("/") or lock.endswith("/") or "//" in lock:
            raise ValueError("%r is no path of a znode, such as '/lock'" % lock)
        self._says("attempts", lock)

    def enters(self, lock, node=None):
        """It has the lock, by this znode, and enters the critical section."""
        self._says("granted", lock, self._path(lock, node))
        self._says("enters", lock)

    def shares(self, lock, node=None):
        """The same, together with others who share it."""
        self._says("shares", lock, self._path(lock, node))
        self._says("enters", lock)

    def leaves(self, lock):
        """It has left the critical section. A round of the main thread is done."""
        self._says("leaves", lock)

    def released(self, lock):
        """It has given the lock back, or knows that it has it no more."""
        self._says("released", lock)

    def gives_up(self, lock, why=""):
        """Its attempt has ended without the lock."""
        self._says("gives-up", lock, why)

    def notes(self, what, about, number=0):
        """Anything else that a promise looks for."""
        self._says("notes", about, what, number)

    def begins(self, what, about, number=0):
        """The same; and a fault would hurt most between here and `ends`."""
        self._says("begins", about, what, number)

    def ends(self, what, about, number=0):
        """What began about this is over, and with it a round."""
        self._says("ends", about, what, number)

    def sees(self, parent, children):
        """It has just been given these children of a znode: their names, or a dictionary of their data."""
        shown = sorted(children)
        if isinstance(children, dict):
            shown = ["%s=%s" % (name, text(children[name])) for name in shown]
        self.notes("sees", "%s{%s}" % (parent, ",".join(shown)), len(shown))

    def _says(self, word, about, what="", number=0):
        raise NotImplementedError

    @staticmethod
    def _path(lock, node):
        if not node:
            return ""
        return node if node.startswith("/") else lock + "/" + node


def text(data):
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data or "")


class Tellers:
    """Which thread or task is at each lock, by the number by which it tells so.

    Two at a time would be taken for one that has the lock twice. `task` gives the task that the running thread is at, if
    there is one; `refuse` is called where two tell by one number.
    """

    def __init__(self, task, refuse):
        self._task, self._refuse, self._at = task, refuse, {}

    def tells(self, number, word, lock):
        if word in ("leaves", "released", "gives-up"):
            self._at.pop((number, lock), None)
        elif word in ("attempts", "granted", "shares"):
            me = self._task() or threading.current_thread()
            who, is_in = self._at.get((number, lock), (me, False))
            # One may ask for another, who enters then.
            if who is not me and is_at_work(who) and (is_in or word == "attempts"):
                self._refuse()
            self._at[number, lock] = me, word != "attempts" or (is_in and who is me)


def is_at_work(who):
    return who.is_alive() if isinstance(who, threading.Thread) else not who.done()
