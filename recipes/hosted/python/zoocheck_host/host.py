"""The host: reads frames, lets the program take steps, writes frames."""

import gc
import os
import struct
import sys
import traceback

from greenlet import GreenletExit, getcurrent

from zoocheck_host import clock, exits, logs, scheduler, signals, streams

VERSION = 1
# Of processor time, for an answer. zoocheck waits for longer, and could not tell where the program is.
SECONDS_MAX = 4


class Host:
    """One worker."""

    def __init__(self, stdin):
        self.stdin = stdin
        self.stdout = sys.stdout.buffer
        self.program = self.life = None
        self.wrong = None
        streams.install(self.prints)
        clock.install(scheduler.sleep)
        # Behind it: queues and conditions are given the clock.
        scheduler.install(self.thread_ends)
        clock.forbid(self.complain)
        self.leave = exits.install(self.exits)
        signals.install(self.complain, self.exits)
        self.watch = signals.Watch(self.waits)
        # Only now, as they keep what they have imported.
        from zoocheck_host import loop, unheard
        from zoocheck_host.program import Program

        loop.install(self.unheard)
        unheard.install(self.unheard)
        unheard.install_for_tasks()
        self.loop, self.unheard_of, self.loads = loop, unheard, Program

    def complain(self, what):
        """The program does what must not be done: nothing of this life counts."""
        if self.life is not None:
            self.wrong = self.wrong or "%s: %s" % (what, self.where_within(sys._getframe(2)))
            raise RuntimeError(what)

    def prints(self, line):
        if self.life is not None:
            self.life.prints(line)

    def spins(self, _signal, frame):
        self.throw(scheduler.Spins(frame))

    def waits(self, frame):
        self.throw(scheduler.Spins(frame, "it waits for something outside of the simulation"))

    def throw(self, spins):
        (scheduler.current.scheduler.hub or getcurrent()).throw(spins)

    def exits(self, status, by="os._exit"):
        if scheduler.current.scheduler.dead:
            raise GreenletExit()
        if self.life is None:
            self.leave(status)
        self.life.exits(status, by)

    def thread_ends(self, error):
        if self.life is not None:
            self.life.thread_ends(error)

    def unheard(self, error):
        if self.life is not None:
            self.life.unheard(error)

    def serve(self):
        try:
            while len(length := self.stdin.read(4)) == 4:
                answer = self.answer(Reader(self.stdin.read(struct.unpack(">I", length)[0])))
                self.stdout.write(struct.pack(">I", len(answer)) + answer)
                self.stdout.flush()
        except BaseException:
            # The host's own fault.
            traceback.print_exc(file=sys.__stderr__)
            sys.__stderr__.flush()
            self.leave(1)
        # Nothing of the program's is to run at the exit.
        self.leave(0)

    def answer(self, reader):
        kind = reader.number(">B")
        self.watch.answers += 1
        signals.limits_work(SECONDS_MAX, self.spins)
        try:
            if kind == 1:
                return self.hello(reader)
            if kind == 2:
                return self.begin(reader)
            if kind == 3:
                return self.step(reader)
            if kind == 4:
                return self.kill()
        except scheduler.Spins as spins:
            return wrong("%s: %s" % (spins.how, self.where(spins.frame)))
        finally:
            signals.limits_work(0, None)
            self.watch.answers += 1
        return wrong("its host knows no question of kind %d" % kind)

    def hello(self, reader):
        version, name = reader.number(">H"), reader.text()
        if version != VERSION:
            return wrong("its host speaks version %d of the protocol, not %d" % (VERSION, version))
        try:
            self.program = self.loads(name)
        except Exception as error:
            *_, last = told(error, lambda path: "site-packages" not in path and not is_ours_or_pythons(path))
            return wrong(last)
        gc.collect()
        gc.freeze()
        # Garbage is collected between lives: what is done as it is, is done by nobody then.
        gc.disable()
        return bytes([1]) + text(self.program.who())

    def begin(self, reader):
        steady, wall = reader.numbers(">Qq")
        clock.now.steady, clock.now.wall = steady, wall
        name = reader.text()
        process, life, clients, rounds = reader.numbers(">HBHB")
        seed, timeout_ms, stands_still, stands_still_ns = reader.numbers(">QIBQ")
        servers = reader.text()
        streams.begin()
        clock.begin(name, process, seed)
        turns = scheduler.Scheduler(clock.now, seed, stands_still, stands_still_ns)
        scheduler.begin(turns)
        self.loop.begin()
        self.unheard_of.begin()
        logs.begin()
        exits.begin()
        signals.begin()
        self.wrong = None
        self.life = self.program.life(turns, name, process, clients, rounds, servers, timeout_ms)
        return self.stepped()

    def where(self, frame):
        """Where the program is: in a file of its own, if any of its threads is in one."""
        tasks = self.life.turns.tasks if self.life is not None else []
        of_all = [frame, *(task.gr_frame for task in tasks), *self.loop.frames()]
        return self.where_within(*of_all)

    def where_within(self, *frames):
        for innermost in frames:
            while innermost is not None:
                if self.program is not None and self.program.owns(innermost.f_code.co_filename):
                    return told_place(innermost)
                innermost = innermost.f_back
        return place(frames[0])

    def step(self, reader):
        steady, wall, count = reader.numbers(">QqI")
        clock.now.steady, clock.now.wall = steady, wall
        for _ in range(count):
            kind, number = reader.numbers(">BI")
            if kind == 3:
                self.life.data(number, reader.bytes())
            elif kind == 5:
                self.life.is_done(number, bool(reader.number(">B")))
            else:
                {1: self.life.connected, 2: self.life.ended, 4: self.life.ended}[kind](number)
        return self.stepped()

    def stepped(self):
        timer = self.life.turns.run()
        if self.wrong:
            return wrong(self.wrong)
        outputs = self.life.take()
        outputs += [struct.pack(">BQ", 9, ns) for ns in self.life.turns.long_sleeps()]
        answer = [b"\2", struct.pack(">BQ", 1, timer) if timer is not None else b"\0"]
        answer.append(struct.pack(">II", self.life.turns.switches, len(outputs)))
        return b"".join(answer + outputs)

    def kill(self):
        life, self.life = self.life, None
        has_ended = life.turns.kill()
        scheduler.begin(scheduler.Nobody())
        self.program.forget()
        exits.begin()
        del life
        gc.collect()
        return b"\3" if has_ended else wrong("its threads do not end")


class Reader:
    """What stands in a frame."""

    def __init__(self, frame):
        self._frame, self._at = frame, 0

    def numbers(self, form):
        numbers = struct.unpack_from(form, self._frame, self._at)
        self._at += struct.calcsize(form)
        return numbers

    def number(self, form):
        return self.numbers(form)[0]

    def bytes(self):
        length = self.number(">I")
        self._at += length
        return self._frame[self._at - length : self._at]

    def text(self):
        return self.bytes().decode()


def text(words):
    words = words.encode("utf-8", "replace")
    return struct.pack(">I", len(words)) + words


def wrong(why):
    return b"\4" + text(why)


def short(path):
    """A file's name that is the same on every machine."""
    for mark in ("site-packages" + os.sep, "python%d.%d" % sys.version_info[:2] + os.sep):
        if mark in path:
            return path.split(mark, 1)[1]
    return os.path.relpath(path) if os.path.isabs(path) else path


def is_ours_or_pythons(path):
    return path.startswith("<") or (path.startswith(os.path.dirname(os.__file__)) and "site-packages" not in path)


def place(frame):
    """Where something is done: in the program or a package of somebody's, not in the host nor in what Python brings."""
    while frame.f_back is not None and is_ours_or_pythons(frame.f_code.co_filename):
        frame = frame.f_back
    return told_place(frame)


def told_place(frame):
    return "%s, line %d, in %s" % (short(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name)


def one_line(error):
    return " ".join("".join(traceback.format_exception_only(type(error), error)).split())


def told(error, owns):
    """A traceback as lines, the innermost call last; then the error, with the innermost place in a file of the program's."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<zoocheck_host")]
    for frame in frames:
        yield "  %s, line %d, in %s: %s" % (short(frame.filename), frame.lineno, frame.name, frame.line)
    places = ["(%s, line %d, in %s)" % (short(it.filename), it.lineno, it.name) for it in frames if owns(it.filename)]
    yield " ".join([one_line(error), *places[-1:]])
