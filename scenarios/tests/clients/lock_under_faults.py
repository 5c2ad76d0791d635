"""kazoo's lock on a `zoocheck serve` that crashes, drops connections and expires sessions.

    lock_under_faults.py HOST:PORT[,HOST:PORT…] CONTROL_URL SEED ROUNDS [no-lock | leaders]

With no-lock, nobody locks anything: the broken variant that must be caught. With leaders, there are several servers, and who
leads is what crashes. Prints what happened as one line of JSON. Exclusion is judged among live sessions, by what the server knows of them.
"""

import json
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

from faults import Control, Holders, Nemesis

ADDRESS, CONTROL, SEED, ROUNDS = sys.argv[1], Control(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
LOCKS = sys.argv[5:] != ["no-lock"]
LEADERS = sys.argv[5:] == ["leaders"]
WORKERS = 4


def work(number, holders, done):
    zk = KazooClient(hosts=ADDRESS, timeout=1.0)
    zk.start(timeout=60)
    rounds = 0
    while rounds < ROUNDS:
        # An object for each attempt: kazoo's lock does not survive the end of its session.
        lock = zk.Lock("/lock", f"w{number}")
        try:
            if LOCKS and not lock.acquire(timeout=30):
                continue
            owner = zk.get(f"/lock/{lock.node}")[1].ephemeralOwner if LOCKS else zk.client_id[0]
            holders.enter("the lock", number, owner)
            time.sleep(0.01)
            holders.leave("the lock", number)
            if LOCKS:
                lock.release()
            rounds += 1
        except KazooException:
            # The holder does not know whether it still holds anything: it stops.
            if number in holders.holding.get("the lock", {}):
                holders.leave("the lock", number)
            try:
                lock.cancel()
                if lock.node:
                    zk.retry(zk.delete, f"/lock/{lock.node}")
            except KazooException:
                pass
    done.append(number)
    zk.stop()


def main():
    admin = KazooClient(hosts=ADDRESS, timeout=10)
    admin.start(timeout=60)
    admin.ensure_path("/lock")
    admin.stop()
    holders, done = Holders(CONTROL), []
    nemesis = Nemesis(CONTROL, SEED)
    if LEADERS:
        nemesis = Nemesis(CONTROL, SEED, (0.2, 0.5), "leader-crash")
    workers = [threading.Thread(target=work, args=(n, holders, done), daemon=True) for n in range(WORKERS)]
    for thread in [nemesis, *workers]:
        thread.start()
    until = time.monotonic() + 120
    for thread in workers:
        thread.join(max(0.0, until - time.monotonic()))
        if thread.is_alive():
            break
    nemesis.stop()
    for thread in workers:
        thread.join(60)
    print(
        json.dumps(
            {
                "entered": holders.entered,
                "overlaps": holders.overlaps,
                "violations": holders.violations,
                "stuck": WORKERS - len(done),
                "faults": nemesis.struck,
            }
        )
    )


main()
