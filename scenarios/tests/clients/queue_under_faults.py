"""kazoo's locking queue on a `zoocheck serve` that crashes, drops connections and expires sessions.

    queue_under_faults.py HOST:PORT CONTROL_URL SEED ITEMS

Prints what happened as one line of JSON: whether an item that was put for certain was never taken, and whether two
consumers whose sessions live held one item at once.
"""

import json
import logging
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError

from faults import Control, Holders, Nemesis

ADDRESS, CONTROL, SEED, ITEMS = sys.argv[1], Control(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
CONSUMERS = 3


def produce(certain, finished):
    zk = KazooClient(hosts=ADDRESS, timeout=1.0)
    zk.start(timeout=60)
    queue = zk.LockingQueue("/queue")
    for number in range(ITEMS):
        # Slow enough for something to go wrong meanwhile.
        time.sleep(0.02)
        try:
            queue.put(b"%d" % number)
            certain.add(number)
        except KazooException:
            # It may be there or not; either is right.
            pass
    finished.set()
    zk.stop()


def consume(number, holders, taken, forgotten, over):
    zk = KazooClient(hosts=ADDRESS, timeout=1.0)
    zk.start(timeout=60)
    mine = set()
    while not over.is_set():
        # An object for each item: what it remembers may be another's by now.
        queue = zk.LockingQueue("/queue")
        mine.add(queue.id)
        item = None
        try:
            value = queue.get(timeout=1)
            if value is None:
                forgotten.extend(zk.retry(let_go, zk, mine))
                continue
            item = int(value)
            node = queue.processing_element[0]
            owner = zk.get(f"/queue/taken/{node}")[1].ephemeralOwner
            holders.enter(node, number, owner)
            taken.append(item)
            time.sleep(0.005)
            holders.leave(node, number)
            queue.consume()
        except KazooException:
            if item is not None and number in holders.holding.get(node, {}):
                holders.leave(node, number)
            forgotten.extend(zk.retry(let_go, zk, mine))
    zk.stop()


def let_go(zk, mine):
    """Deletes what marks an item as taken by one of these queue objects, none of which has one just now.

    kazoo's own release does not know of a mark whose answer was lost. Nor does anybody know of one that is made when
    nobody wants it any more: the watch of a get that has failed stays, and takes the next item. Either item would stay
    taken by nobody for as long as the session lives.
    """
    deleted = []
    for node in zk.get_children("/queue/taken"):
        try:
            if zk.get(f"/queue/taken/{node}")[0] in mine:
                zk.delete(f"/queue/taken/{node}")
                deleted.append(node)
        except NoNodeError:
            pass
    return deleted


def main():
    logging.disable(logging.CRITICAL)
    holders, certain, taken, forgotten = Holders(CONTROL), set(), [], []
    finished, over = threading.Event(), threading.Event()
    nemesis = Nemesis(CONTROL, SEED)
    threads = [threading.Thread(target=produce, args=(certain, finished), daemon=True)]
    for number in range(CONSUMERS):
        arguments = (number, holders, taken, forgotten, over)
        threads.append(threading.Thread(target=consume, args=arguments, daemon=True))
    for thread in [nemesis, *threads]:
        thread.start()
    put = finished.wait(120)
    nemesis.stop()
    until = time.monotonic() + 60
    while certain - set(taken) and time.monotonic() < until:
        time.sleep(0.1)
    over.set()
    for thread in threads:
        thread.join(30)
    print(
        json.dumps(
            {
                "put": len(certain),
                "finished": put,
                "taken": len(taken),
                "lost": sorted(certain - set(taken)),
                "twice": len(taken) - len(set(taken)),
                "let go": len(forgotten),
                "overlaps": holders.overlaps,
                "violations": holders.violations,
                "faults": nemesis.struck,
            }
        )
    )


main()
