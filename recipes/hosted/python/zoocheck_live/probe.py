"""What a program says of itself in real time."""

import asyncio
import time

from zoocheck_host.words import Tellers, Words
from zoocheck_live.http import ask

WAITS_S = 60


class Probe(Words):
    """The probe of a kazoo client, or of whatever has a `client_id`: a session's id and its password.

    Whatever it says has been heard when it returns: a client that leaves, and then gives back what it holds, is not
    taken for one that holds it still.
    """

    def __init__(self, control, client, name="p0", process=0, clients=1, rounds=1, thread=0, tellers=None):
        super().__init__(name, process, clients, rounds)
        self._tellers = tellers or Tellers(task, refuse)
        self._control, self._client, self._thread = control, client, thread
        self._last, self._is_over = None, False
        self.session()
        if thread == 0 and hasattr(client, "add_listener"):
            client.add_listener(self._changes)

    def thread(self, number):
        """The probe of another thread, from 1 on, which asks for something of its own on the same session."""
        if not 1 <= number <= 255:
            raise ValueError("threads are numbered from 1 to 255; the main one is 0")
        return Probe(
            self._control, self._client, self.name, self.process, self.clients, self._rounds, number, self._tellers
        )

    def connects(self):
        """It has this session; from now on, if the former one has ended."""
        self._tell(connects=True)

    def _changes(self, state):
        # kazoo renews a session by itself, and goes on with what it was about.
        if state == "CONNECTED" and not self._is_over:
            self.connects()

    def session(self):
        """The client's session; the last one it had, where it has lost it and has no other yet."""
        session = self._client.client_id
        if session is not None:
            self._last = hex(session[0])
        return self._last

    def enters(self, lock, node=None):
        self._tellers.tells(self._thread, "granted", lock)
        self._tell(enters=lock, node=node or "")

    def shares(self, lock, node=None):
        self._tellers.tells(self._thread, "shares", lock)
        self._tell(shares=lock, node=node or "")

    def work(self):
        """Works for a while, mostly short, at times longer than a session lives in silence."""
        self._tell(works=True)

    def write(self):
        """Writes to the resource that the lock is to protect. It travels, and may come late."""
        return self._tell(writes="unfenced")["accepted"]

    def finishes(self, end="done"):
        """Its code has come to its end: `done`, `failed`, or `session-lost`. Its session may live on."""
        self._is_over = True
        self._tell(finishes=end)

    def _says(self, word, about, what="", number=0):
        self._tellers.tells(self._thread, word, str(about))
        told = {word: str(about)}
        if word == "gives-up":
            told["why"] = str(what)
        elif word in ("notes", "begins", "ends"):
            told.update(what=str(what), number=int(number))
        self._tell(**told)

    def _tell(self, **told):
        until = time.monotonic() + WAITS_S
        while (session := self.session()) is None:
            if time.monotonic() > until:
                raise RuntimeError("the client has no session by which it could be known; start it first")
            time.sleep(0.01)
        who = {"session": session, "client": self.process, "thread": self._thread}
        return ask(self._control, "POST", "/observe", {**who, **told})


def task():
    try:
        return asyncio.current_task()
    except RuntimeError:
        # No loop runs in this thread.
        return None


def refuse():
    raise ValueError("two threads tell of one lock by one probe, each needs a probe.thread(n) of its own")
