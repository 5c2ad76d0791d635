"""kazoo's handler: its own for threads, with sockets that go nowhere but into frames."""

import collections
import errno

import sys

import kazoo.client
import kazoo.handlers.threading
import kazoo.hosts

from zoocheck_host import exits
from zoocheck_host.scheduler import Waiter, current


class OrderedSet(collections.abc.MutableSet):
    """In the place of kazoo.client's sets of functions: those iterate by address."""

    def __init__(self, items=()):
        self._items = dict.fromkeys(items)

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def add(self, item):
        self._items[item] = None

    def discard(self, item):
        self._items.pop(item, None)


kazoo.client.set = OrderedSet


# Whose clients are made; none as a file is loaded for the first time.
life = None


def begin(its):
    global life
    life = its


def _hosts(hosts):
    """Wherever a client is to connect to, and there are the simulated servers."""
    theirs, chroot = kazoo.hosts.collect_hosts(hosts)
    return kazoo.hosts.collect_hosts(life.servers)[0] if life else theirs, chroot


kazoo.client.collect_hosts = _hosts


class Stream:
    """One end of something that bytes come from."""

    def __init__(self):
        self._bytes = bytearray()
        self._ended = False
        self._closed = False
        self._blocks = True
        self._waiters = []

    # What comes from outside.

    def feed(self, data):
        self._bytes += data
        self._wake()

    def end(self):
        self._ended = True
        self._wake()

    def _wake(self):
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.wake()

    # What `select` asks.

    def is_readable(self):
        return bool(self._bytes) or self._ended or self._closed

    def is_writable(self):
        return True

    def watch(self, waiter):
        self._waiters.append(waiter)

    def unwatch(self, waiter):
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    # What a socket has.

    def fileno(self):
        return -1 if self._closed else 1 << 20

    def setblocking(self, blocks):
        self._blocks = bool(blocks)

    def settimeout(self, timeout):
        self._blocks = timeout is None or timeout > 0

    def setsockopt(self, *_):
        pass

    def recv(self, size):
        self._check()
        while not self.is_readable():
            if not self._blocks:
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
            waiter = Waiter()
            self.watch(waiter)
            current.scheduler.wait(waiter)
            self._check()
        data = bytes(self._bytes[:size])
        del self._bytes[:size]
        return data

    def sendall(self, data):
        self.send(data)

    def _check(self):
        if self._closed:
            raise OSError(errno.EBADF, "Bad file descriptor")


class Pipe(Stream):
    """One end of a pair within the process."""

    peer = None

    def send(self, data):
        self._check()
        if self.peer._closed:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        self.peer.feed(bytes(data))
        return len(data)

    def close(self):
        if not self._closed:
            self._closed = True
            self._wake()
            self.peer.end()


class Connection(Stream):
    """A connection to a simulated server."""

    def __init__(self, life, number, address):
        super().__init__()
        self._life, self._number, self._address = life, number, address
        self.is_open = False

    def connected(self):
        self.is_open = True
        self._wake()

    def send(self, data):
        self._check()
        # As a real one, it takes bytes that nobody will read until that is known.
        if not self._ended:
            self._life.send(self._number, bytes(data))
        return len(data)

    def getpeername(self):
        return self._address

    def close(self):
        if not self._closed:
            self._closed = True
            self._wake()
            self._life.close(self._number)


class Handler(kazoo.handlers.threading.SequentialThreadingHandler):
    """What kazoo does with threads is done by those that take turns; only what leaves the process is made anew."""

    name = "zoocheck_handler"

    def __init__(self):
        super().__init__()
        self._life = life

    def start(self):
        if self._life is None:
            raise RuntimeError("it starts a client as its file is loaded, and not within its function")
        if self._life.handler not in (None, self):
            sys.audit("zoocheck.second_client")
        self._life.handler = self
        super().start()
        # The client keeps its session when its program has ended.
        exits.unregister(self.stop)

    def stop(self):
        super().stop()
        if self._life is not None and self._life.handler is self:
            self._life.handler = None

    def select(self, rlist, wlist, xlist, timeout=None):
        for stream in [*rlist, *wlist]:
            if stream.fileno() < 0:
                raise ValueError("Invalid file descriptor: -1")
        if timeout is not None and timeout < 0:
            raise ValueError("timeout must be non-negative")
        until = None if timeout is None else self._life.now.steady + int(timeout * 1e9 + 0.999)
        while True:
            readable = [stream for stream in rlist if stream.is_readable()]
            writable = [stream for stream in wlist if stream.is_writable()]
            left = None if until is None else (until - self._life.now.steady) / 1e9
            if readable or writable or (left is not None and left <= 0):
                return readable, writable, []
            waiter = Waiter()
            for stream in rlist:
                stream.watch(waiter)
            try:
                current.scheduler.wait(waiter, left)
            finally:
                for stream in rlist:
                    stream.unwatch(waiter)

    def socket(self):
        raise NotImplementedError("a socket without an address")

    def create_connection(self, address, hostname=None, timeout=None, use_ssl=False, **_):
        if use_ssl:
            sys.audit("zoocheck.tls")
        connection = self._life.connect(address)
        waiter = Waiter()
        connection.watch(waiter)
        current.scheduler.wait(waiter, timeout)
        connection.unwatch(waiter)
        if connection.is_open:
            return connection
        refused = connection._ended
        connection.close()
        if refused:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        raise TimeoutError(errno.ETIMEDOUT, "timed out")

    def create_socket_pair(self):
        one, other = Pipe(), Pipe()
        one.peer, other.peer = other, one
        return one, other


# That of a client which is given none.
kazoo.client.SequentialThreadingHandler = Handler
