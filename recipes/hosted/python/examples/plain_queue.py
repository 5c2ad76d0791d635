"""kazoo's plain queue: the first process puts, the others take. Whatever was put is taken, or is still there.

    zoocheck run plain_queue.py:worker --promises program=/taken --set faults.client-crashes=0 \
        --set faults.expiries=0 --set faults.client-pauses=0

The program itself says where that is not so, by an error: `no-failure` tells of it. Whoever takes something and dies
takes it along, as kazoo says; so nobody dies here.
"""

import time

from kazoo.exceptions import ConnectionLoss

LAST_PUT_S, SETTLED_S = 42, 30


def worker(client, probe):
    client.retry(client.ensure_path, "/taken")
    queue = client.Queue("/queue")
    if probe.process == 0:
        puts(client, queue)
    else:
        takes(client, queue)


def puts(client, queue):
    started, put = time.monotonic(), []
    while time.monotonic() - started < LAST_PUT_S:
        payload = "item-%d" % len(put)
        try:
            queue.put(payload.encode())
            put.append(payload)
        except ConnectionLoss:
            # It may be there: another of that name does no harm here.
            pass
        client.handler.sleep_func(1)
    client.handler.sleep_func(SETTLED_S)
    taken = client.retry(client.get_children, "/taken")
    left = len(client.retry(client.get_children, "/queue"))
    lost = [payload for payload in put if payload not in taken]
    assert len(lost) <= left, "%s were put, and nobody has taken them" % ", ".join(lost)


def takes(client, queue):
    started = time.monotonic()
    while time.monotonic() - started < LAST_PUT_S + SETTLED_S / 2:
        try:
            payload = queue.get()
        except ConnectionLoss:
            continue
        if payload is None:
            client.handler.sleep_func(1)
        else:
            client.retry(client.ensure_path, "/taken/" + payload.decode())
