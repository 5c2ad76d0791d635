"""What a program takes for the time, for chance, and for its machine: all of it is told.

Put in place before anything else is imported, as modules keep what they have imported. Of kazoo nothing is changed; it finds
these in `time`, `random`, `uuid`, `os` and `socket`.
"""

import _thread
import datetime
import ipaddress
import os
import random
import resource
import socket
import sys
import tempfile
import time
import uuid


class Now:
    """The time of the step that is taken, in nanoseconds."""

    steady = 0
    wall = 0


now = Now()
# Chance for whoever asks the operating system for it.
generator = random.Random(0)


FIRST_PID = 1000


class Machine:
    name = "zoocheck"
    pid = FIRST_PID


machine = Machine()

_real = {name: getattr(time, name) for name in ("asctime", "gmtime", "strftime")}
# Not every system has each.
_WALL = {getattr(time, "CLOCK_" + name, None) for name in ("REALTIME", "TAI")}
_WORK = {getattr(time, "CLOCK_" + name, None) for name in ("PROCESS_CPUTIME_ID", "THREAD_CPUTIME_ID")}


def _seconds_or_now(seconds):
    return now.wall / 1e9 if seconds is None else seconds


def _clock_ns(which):
    """What a clock of the operating system shows."""
    if which in _WALL:
        return now.wall
    return 0 if which in _WORK else now.steady


def _patch_time(sleep):
    time.time = lambda: now.wall / 1e9
    time.time_ns = lambda: now.wall
    time.monotonic = time.perf_counter = lambda: now.steady / 1e9
    time.monotonic_ns = time.perf_counter_ns = lambda: now.steady
    time.process_time = time.thread_time = lambda: 0.0
    time.process_time_ns = time.thread_time_ns = lambda: 0
    time.clock_gettime = lambda which: _clock_ns(which) / 1e9
    time.clock_gettime_ns = _clock_ns
    time.sleep = sleep
    time.gmtime = lambda seconds=None: _real["gmtime"](_seconds_or_now(seconds))
    # In the same zone everywhere, also for what asks the operating system: dates, and times made of numbers.
    os.environ["TZ"] = "UTC"
    time.localtime = time.gmtime
    time.strftime = lambda form, at=None: _real["strftime"](form, time.gmtime() if at is None else at)
    time.asctime = lambda at=None: _real["asctime"](time.gmtime() if at is None else at)
    time.ctime = lambda seconds=None: time.asctime(time.gmtime(seconds))


def _patch_datetime():
    real = datetime.datetime

    class Kind(type):
        """Those that C makes are some, too."""

        def __instancecheck__(cls, it):
            return isinstance(it, real)

    class VirtualDatetime(real, metaclass=Kind):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now.wall / 1e9, tz or datetime.timezone.utc).replace(tzinfo=tz)

        @classmethod
        def utcnow(cls):
            return cls.now()

        @classmethod
        def today(cls):
            return cls.now()

        def __repr__(self):
            return "datetime." + super().__repr__()

    VirtualDatetime.__name__ = VirtualDatetime.__qualname__ = VirtualDatetime.__module__ = "datetime"
    datetime.datetime = VirtualDatetime


def _patch_chance():
    # It draws names to look for its folder by, once in a process, and not in whichever life is the first.
    tempfile.gettempdir()

    def urandom(size):
        return generator.randbytes(size)

    os.urandom = urandom
    os.getrandom = lambda size, flags=0: urandom(size)
    random._urandom = urandom
    seed = random.Random.seed

    def seeded(self, a=None, version=2):
        seed(self, generator.getrandbits(64) if a is None else a, version)

    random.Random.seed = seeded
    # It would ask the operating system for the time and for the network's address.
    uuid._generate_time_safe = None
    uuid._node = 0x020000000000


def _address(name):
    """What a name stands for: that of the machine for an address of its own, and an address for itself."""
    if name in ("localhost", b"localhost"):
        return "127.0.0.1"
    if name == machine.name:
        return "10.0.1.%d" % (machine.pid - FIRST_PID)
    try:
        return name and str(ipaddress.ip_address(name.decode() if isinstance(name, bytes) else name))
    except ValueError:
        sys.audit("zoocheck.looks_up")


def _patch_machine():
    os.getpid = lambda: machine.pid
    os.getppid = lambda: 1
    # By it, pools of threads have their size.
    os.cpu_count = lambda: 4
    os.sched_getaffinity = lambda pid: set(range(4))
    os.getloadavg = lambda: (0.0, 0.0, 0.0)
    os.uname = lambda: os.uname_result(("Linux", machine.name, "6.0", "1", "x86_64"))
    os.times = lambda: os.times_result((0.0, 0.0, 0.0, 0.0, now.steady / 1e9))
    resource.getrusage = lambda who: resource.struct_rusage([0.0, 0.0] + 14 * [0])
    socket.gethostname = lambda: machine.name
    socket.getfqdn = lambda name="": name or machine.name
    socket.gethostbyname = _address
    socket.gethostbyname_ex = lambda name: (name, [], [_address(name)])
    look_up = socket.getaddrinfo
    socket.getaddrinfo = lambda name, *args, **named: look_up(_address(name), *args, **named)


def install(sleep):
    """`sleep` is what sleeping is."""
    _patch_time(sleep)
    _patch_datetime()
    _patch_chance()
    _patch_machine()


def begin(name, process, seed):
    """A life begins: nothing is left of the former one."""
    machine.name, machine.pid = name, FIRST_PID + process
    generator.seed(seed)
    # It draws names by one generator as long as a process lives.
    tempfile._name_sequence = None
    random.seed(generator.getrandbits(64))
    uuid._last_timestamp = None
    time.tzset()


def forbid(complain):
    """Calls `complain` when a program does something whose outcome is not determined; that must raise."""
    forbidden = {
        "os.fork": "it forks",
        "os.forkpty": "it forks",
        "os.posix_spawn": "it starts a process",
        "os.system": "it starts a process",
        "os.exec": "it becomes another process",
        "subprocess.Popen": "it starts a process",
        "socket.connect": "it opens a connection of its own",
        "socket.bind": "it opens a port of its own",
        "socket.sendto": "it sends a message of its own",
        "zoocheck.looks_up": "it looks up a name",
        "zoocheck.second_client": "it starts a second client (a function that makes its own takes a probe alone)",
        "zoocheck.tls": "it wants TLS, which simulated servers do not have",
        "zoocheck.tells": "two of its threads tell of one lock by one probe, each needs a probe.thread(n) of its own",
    }

    def hook(event, _arguments):
        what = forbidden.get(event)
        if what is not None:
            complain(what)

    sys.addaudithook(hook)
    # Which tells of no threads before Python 3.12.
    _thread.start_new_thread = lambda *_: complain("it starts a thread of the operating system")
