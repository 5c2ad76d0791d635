"""A lock that is none: whoever wants it has it."""


def worker(client, probe):
    for _ in probe.rounds():
        probe.attempts("/lock")
        probe.enters("/lock")
        probe.write()
        probe.work()
        probe.write()
        probe.leaves("/lock")
        probe.released("/lock")
