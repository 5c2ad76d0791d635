"""`zoocheck serve` for a test: an ensemble that fails on demand, and judges its clients."""

import json
import os
import shutil
import subprocess
import sysconfig
import time

from zoocheck_live.http import ask
from zoocheck_live.probe import Probe


class Serve:
    """Serves until the `with` block ends.

    `promises` says what clients owe, such as `fair-lock=/lock`. `ZOOCHECK` names the command; by default it is the
    `zoocheck` that is installed with this Python, or else on PATH.
    """

    def __init__(self, promises=(), servers=3, tick_ms=500, arguments=(), command=None):
        installed = shutil.which("zoocheck", path=sysconfig.get_path("scripts")) or "zoocheck"
        command = [command or os.environ.get("ZOOCHECK", installed), "serve", "--until-stdin-closes"]
        # One server would listen on the port of a real one.
        command += ["--listen", "127.0.0.1:0", "--servers", str(servers), "--tick-ms", str(tick_ms)]
        for owed in promises:
            command += ["--promises", owed]
        self._process = subprocess.Popen(
            command + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(self._process.communicate()[1].strip())
        ready = json.loads(line)
        self.servers = ",".join(server["client"] for server in ready["servers"])
        self.control = ready["control"]
        self._clients = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def probe(self, client, clients=1, rounds=1):
        """The probe of another kazoo client, which has been started."""
        number = self._clients
        self._clients += 1
        return Probe(self.control, client, "p%d" % number, number, clients, rounds)

    def fault(self, name, **how):
        """Does a fault: `fault("leader-crash", down_ms=500)`, `fault("expire", session=probe.session())`."""
        return ask(self.control, "POST", "/faults", {name: {key.replace("_", "-"): it for key, it in how.items()}})

    def sessions(self):
        return ask(self.control, "GET", "/sessions")

    def verdict(self):
        """What is found so far."""
        return ask(self.control, "GET", "/verdict")

    def assert_held(self, within=60):
        """Waits until nothing moves any more, and fails unless every judged promise and every invariant has held.

        It fails as well where nothing that a kind owes of its own is judged from outside.
        """
        until = time.monotonic() + within
        verdict = self.verdict()
        if "promises" not in verdict:
            raise ValueError('nothing is owed: expected promises, such as promises=["fair-lock=/lock"]')
        while verdict["promises"].get("not-at-rest") and verdict["held"] and time.monotonic() < until:
            time.sleep(0.05)
            verdict = self.verdict()
        if verdict["promises"]["answer"] != "held" or not verdict["held"]:
            raise AssertionError("\n".join(told(verdict)))

    def stop(self):
        """Ends it; gives its exit status, which is 1 if something was broken. Nothing of it is left."""
        if self._process.poll() is None:
            self._process.communicate()
        return self._process.wait()


def told(verdict):
    """What was found, in lines."""
    for broken in verdict["broken"]:
        yield "%s: %s" % (broken["invariant"], broken["what"])
    found = verdict["promises"]
    yield "the promises: %s" % found["answer"]
    if found["not-at-rest"]:
        yield "not at rest: %s" % found["not-at-rest"]
    for kind in found["unjudged"]:
        yield "what %s owes of its own is not judged from outside" % kind
    for promise in found["promises"]:
        if promise["verdict"] == "broken":
            yield "%s is broken: %s" % (promise["name"], promise["first"]["what"])
            yield from ("  " + line for line in promise["first"]["timeline"])
        elif promise["verdict"] == "never-tested":
            yield "%s was never put to the test" % promise["name"]
        elif promise["verdict"] == "undecided":
            yield "%s is undecided: %s" % (promise["name"], promise["first_expected"]["what"])
