"""Programs that look outside of themselves: at the machine, and at addresses.

    zoocheck run outside.py:asks_the_machine --promises lock=/lock
"""

import datetime
import logging
import os
import platform
import resource
import sys
import tempfile
import threading
import time

from programs import holds


def asks_the_machine(client, probe):
    """No two runs print the same if one answer comes from the machine."""
    print([time.clock_gettime(clock) for clock in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_THREAD_CPUTIME_ID)])
    print(time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.process_time_ns(), time.thread_time_ns())
    print(time.ctime(), time.asctime(), time.localtime(), time.strftime("%c %Z"), time.ctime(0), time.mktime(time.gmtime(0)))
    print(datetime.datetime.now(), datetime.datetime.utcnow(), datetime.datetime.today(), datetime.datetime.fromtimestamp(0))
    print(datetime.date.today(), datetime.date.fromtimestamp(0))
    print(os.getrandom(4), os.urandom(4), os.getpid(), os.getppid())
    print(os.uname(), platform.node(), os.times(), os.getloadavg(), resource.getrusage(resource.RUSAGE_SELF))
    print(next(tempfile._get_candidate_names()), tempfile.gettempdir(), os.urandom(4))
    for _ in probe.rounds():
        holds(client, probe)


def tells_of_objects(client, probe):
    """By their addresses, unless they have words for what they are."""
    logging.basicConfig(level=logging.INFO)
    for _ in probe.rounds():
        print(object(), holds, client.retry, threading.Lock(), (at for at in ()))
        logging.info("%r asks, with %r", threading.current_thread(), client.Lock("/lock"))
        sys.stderr.write("%r\n" % object())
        holds(client, probe)
