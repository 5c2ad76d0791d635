"""A program that changes what outlives it in a worker: each life fails if it finds what a former one has changed.

There is a package `package` for it, of which `outer` patches `inner` when it is loaded.
"""

import importlib
import os

import kazoo.client
from kazoo.client import KazooClient
from package import inner

from programs import holds


def marks(*things):
    """Changes each, which nobody has changed before."""
    for thing in things:
        assert not hasattr(thing, "mark"), "%r is left by a former life" % thing
        thing.mark = True


# As soon as it is loaded.
marks(kazoo.client, KazooClient, inner, inner.Class)


def worker(client, probe):
    assert "MARK" not in os.environ and os.environ.get("PATH"), "the environment is left by a former life"
    os.environ["MARK"] = os.environ.pop("PATH")
    assert os.getcwd() != "/" and os.umask(0o111) != 0o111, "the folder, or its mask, is left by a former life"
    os.chdir("/")
    assert inner.Class().says() == "inner"
    inner.Class.says = lambda self: "former"
    # Its loading does something to others.
    outer = importlib.import_module("package.outer")
    assert importlib.import_module("package").outer is outer and inner.is_patched_by == "package.outer"
    marks(outer)
    # It is loaded anew, and begins as in any other process.
    assert outer.chance == [], "a package that is loaded late has had a former life"
    outer.chance.append(probe.name)
    for _ in probe.rounds():
        holds(client, probe)
