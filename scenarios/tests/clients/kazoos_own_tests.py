"""kazoo's own tests of its client and its recipes, on a `zoocheck serve` in the place of the servers that they start.

    kazoos_own_tests.py HOST:PORT,HOST:PORT,… CONTROL_URL [PYTEST_ARGUMENT…]

Where they stop a server and start it again, its process dies and starts. Prints which tests failed, as one line of JSON
with how many passed. The last line on stdout; the rest goes to stderr.
"""

import json
import sys
import types
from pathlib import Path

# What kazoo makes certificates with, for servers that it starts itself.
for name in ["OpenSSL", "jks"]:
    sys.modules[name] = types.ModuleType(name)

import pytest  # noqa: E402
from kazoo import tests  # noqa: E402
from kazoo.testing import harness  # noqa: E402

from faults import Control  # noqa: E402

ADDRESSES, CONTROL = sys.argv[1].split(","), Control(sys.argv[2])

# What asks for servers, and for nothing that is left out: TLS, SASL, read-only mode, reconfiguration.
FILES = "barrier cache client connection counter election interrupt lease lock partitioner party queue watchers".split()
LEFT_OUT = ["TestSSLClient", "TestReadOnlyMode", "TestReconfig", "TestAuthentication and sasl"]

# Each of these has a race within itself, whatever the servers do; that it is won once is enough.
RACES = [
    # Drops its connection when it has written, and expects that no answer has come in between.
    "test_connection.py::TestConnectionDrop::test_connection_dropped",
    # Waits until nobody has the lock: for ever, if the next one has it by then.
    "test_lock.py::KazooLockTests::test_lock",
    # Waits to be woken by the end of its session: for ever, if it ends before its thread has begun to listen.
    "test_lock.py::TestSemaphore::test_handle_session_loss",
]
TRIES = 5


class Server:
    def __init__(self, number, address):
        self.number, self.address, self.running = number, address, True
        self.client_port = int(address.rsplit(":", 1)[1])

    def stop(self):
        if self.running:
            CONTROL.ask("/faults", {"server-crash": {"server": self.number, "down-ms": 600_000}})
            self.running = False
            STOPS.append(self.number)

    def run(self):
        if not self.running:
            CONTROL.ask("/faults", {"server-start": {"server": self.number}})
            self.running = True


class Cluster(list):
    def start(self):
        for server in self:
            server.run()

    def terminate(self):
        """Nothing: others go on with it."""

    def get_logs(self):
        return []


STOPS = []
CLUSTER = Cluster(Server(number, address) for number, address in enumerate(ADDRESSES))
harness.get_global_cluster = lambda: CLUSTER


class Results:
    def __init__(self):
        self.passed, self.failed = 0, {}

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed
        if report.failed:
            self.failed[report.nodeid.rsplit("/", 1)[-1]] = str(report.longrepr)[-2000:]


def main():
    results, stdout = Results(), sys.stdout
    sys.stdout = sys.stderr
    folder = Path(tests.__file__).parent
    files = [str(folder / f"test_{name}.py") for name in FILES]
    chosen = " and ".join(f"not ({name})" for name in LEFT_OUT)
    # Seconds: of one test, which is told where it waits, and of all of them, so that what is left of CI's time is spared.
    arguments = ["-q", "-p", "no:cacheprovider", "--timeout", "60", "--session-timeout", "600"]
    pytest.main([*arguments, "-k", chosen, *files, *sys.argv[3:]], plugins=[results])
    for _ in range(TRIES - 1):
        lost = [str(folder / race) for race in RACES if results.failed.pop(race, None)]
        if lost:
            pytest.main([*arguments, *lost], plugins=[results])
    print(json.dumps({"passed": results.passed, "failed": results.failed, "stopped": len(STOPS)}), file=stdout)


main()
