"""kazoo's election: each leads for a while, once in a round.

    zoocheck run election.py:worker --promises fair-lock=/election
"""


def worker(client, probe):
    election = client.Election("/election", probe.name)

    def leads():
        probe.enters("/election", election.lock.node)
        probe.write()
        probe.work()
        probe.write()
        probe.leaves("/election")

    for _ in probe.rounds():
        probe.attempts("/election")
        election.run(leads)
        probe.released("/election")
