"""It ends its own process when its session is over."""

import os


def worker(client, probe):
    client.add_listener(lambda state: state == "LOST" and os._exit(1))
    for _ in probe.rounds():
        probe.attempts("/lock")
        with client.Lock("/lock", probe.name):
            probe.enters("/lock")
            probe.work()
            probe.write()
            probe.leaves("/lock")
        probe.released("/lock")
