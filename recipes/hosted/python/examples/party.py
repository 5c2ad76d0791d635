"""kazoo's party: who has joined is in it, as long as its session lives.

    zoocheck run party.py:worker --promises program=/party

The program itself says where it is not, by an error: `no-failure` tells of it.
"""

from kazoo.protocol.states import KazooState

STAYS_S = 10


def worker(client, probe):
    party = client.Party("/party", probe.name)
    losses = []
    client.add_listener(lambda state: losses.append(state) if state == KazooState.LOST else None)
    for round in probe.rounds():
        probe.begins("joins", "/party", round)
        stays = False
        while not stays:
            party.join()
            before = len(losses)
            client.handler.sleep_func(STAYS_S)
            listed = probe.name in list(party)
            stays = len(losses) == before
        probe.ends("was there", "/party", round)
        assert listed, "%s has joined, its session lives, and it is not in the party" % probe.name
        party.leave()
