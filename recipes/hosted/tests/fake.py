"""A host that runs nothing: it answers as it is told to, by its first argument."""

import os
import struct
import sys
import time

mode = sys.argv[1]


def say(answer):
    sys.stdout.buffer.write(struct.pack(">I", len(answer)) + answer)
    sys.stdout.buffer.flush()


def text(words):
    return struct.pack(">I", len(words)) + words.encode()


def misbehave():
    if mode == "prints":
        print("hello, world", flush=True)
    elif mode == "ends":
        sys.exit("it had enough")
    elif mode == "dies":
        os.kill(os.getpid(), 9)
    elif mode == "spins":
        while True:
            pass
    elif mode == "hangs":
        time.sleep(3600)
    elif mode == "wakes now and then":
        while True:
            time.sleep(0.5)
            sum(range(500_000))
    elif mode == "closes":
        os.close(1)
        time.sleep(3600)
    elif mode == "unknown kind":
        say(b"\x63")
    elif mode == "too short":
        say(b"\2\0")
    elif mode == "too long":
        say(b"\2\0" + struct.pack(">II", 0, 0) + b"more")
    elif mode == "no UTF-8":
        say(b"\4" + struct.pack(">I", 2) + b"\xff\xfe")
    elif mode == "another answer":
        say(b"\3")
    elif mode == "wrong":
        say(b"\4" + text("it cannot be helped"))
    elif mode == "endless frame":
        sys.stdout.buffer.write(struct.pack(">I", 1000) + b"\2")
        sys.stdout.buffer.flush()
        time.sleep(3600)


while True:
    length = sys.stdin.buffer.read(4)
    if len(length) < 4:
        break
    question = sys.stdin.buffer.read(struct.unpack(">I", length)[0])
    if question[0] == 1:
        if mode == "refuses":
            say(b"\4" + text("there is no such program"))
        else:
            say(b"\1" + text("a fake"))
    elif question[0] == 2:
        # Connects to the first server that it is told of, and wants to be stepped a second later.
        steady = struct.unpack_from(">Q", question, 1)[0]
        address = question.split(b"10.0.0.")[1].split(b",")[0].decode()
        connect = b"\1" + struct.pack(">I", 1) + text("10.0.0." + address)
        say(b"\2\1" + struct.pack(">QII", steady + 10**9, os.getpid() % 2**31, 1) + connect)
    elif question[0] == 3:
        misbehave()
        if mode == "good":
            # What has come goes back, so that it can be seen here.
            count = struct.unpack_from(">I", question, 17)[0]
            say(b"\2\0" + struct.pack(">II", count, 1) + b"\2" + struct.pack(">I", 1) + text(repr(question[21:])))
    elif question[0] == 4:
        if mode == "cannot end":
            say(b"\4" + text("its threads do not end"))
        else:
            say(b"\3")
