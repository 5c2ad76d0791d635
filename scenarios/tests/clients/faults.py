"""Faults on a `zoocheck serve`, by its HTTP interface."""

import json
import random
import threading
import urllib.error
import urllib.request


class Control:
    """The interface at http://HOST:PORT."""

    def __init__(self, url):
        self.url = url

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text.startswith((b"[", b"{")) else text

    def sessions(self):
        """The ids of the sessions that live."""
        return {int(session["id"], 16) for session in self.ask("/sessions")}

    def fault(self, name, **details):
        try:
            self.ask("/faults", {name: {key.replace("_", "-"): value for key, value in details.items()}})
            return True
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            # Whom it was meant for may be gone by now, and the server may be down.
            if any(gone in text for gone in ["no such session", "no connection", "is down", "no server leads"]):
                return False
            raise AssertionError(f"{name}: {text}") from error


class Nemesis(threading.Thread):
    """Strikes at sessions and at servers until it is told to stop."""

    def __init__(self, control, seed, pause=(0.05, 0.3), crash="server-crash"):
        super().__init__(daemon=True)
        self.control, self.pause, self.random = control, pause, random.Random(seed)
        self.crash = crash
        self.done, self.struck, self.failed = threading.Event(), {}, None

    def run(self):
        try:
            while not self.done.wait(self.random.uniform(*self.pause)):
                self.strike()
        except Exception as error:  # a fault that is refused for no reason must not pass for calm
            self.failed = error

    def strike(self):
        kind = self.random.choice(["drop", "drop", "drop", "expire", self.crash])
        if kind == self.crash:
            done = self.control.fault(kind, down_ms=self.random.randint(10, 400))
        else:
            sessions = sorted(self.control.sessions())
            if not sessions:
                return
            victim = hex(self.random.choice(sessions))
            if kind == "drop":
                what = self.random.choice(["requests-lost", "answers-lost"])
                when = self.random.choice(["now", {"next-request": "any"}, {"next-request": "create"}])
                done = self.control.fault(kind, session=victim, what=what, when=when)
                kind = what
            else:
                done = self.control.fault(kind, session=victim)
        self.struck[kind] = self.struck.get(kind, 0) + done

    def stop(self):
        self.done.set()
        self.join()
        if self.failed:
            raise self.failed


class Holders:
    """Who holds something, and whether two whose sessions live hold it at once."""

    def __init__(self, control):
        self.control, self.mutex = control, threading.Lock()
        self.holding, self.violations, self.overlaps, self.entered = {}, [], 0, 0

    def enter(self, what, who, session):
        with self.mutex:
            self.entered += 1
            others = list(self.holding.get(what, {}).items())
            self.holding.setdefault(what, {})[who] = session
            if not others:
                return
            # Sessions never come back to life: who lives now lived when the second one entered.
            self.overlaps += 1
            alive = self.control.sessions()
            for other, theirs in others:
                if session in alive and theirs in alive:
                    self.violations.append(f"{who} and {other} both hold {what}, and both sessions live")

    def leave(self, what, who):
        with self.mutex:
            self.holding[what].pop(who, None)
