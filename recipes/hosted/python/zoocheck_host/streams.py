"""The streams of a program: what it prints is told line by line, each at its time, and there is nothing to be read."""

import faulthandler
import io
import os
import sys


class Bytes(io.RawIOBase):
    """What stands below a stream of text."""

    def __init__(self, printer):
        self._printer = printer

    def writable(self):
        return True

    def write(self, data):
        self._printer.write(bytes(data).decode(Printer.encoding, Printer.errors))
        return len(data)

    def close(self):
        """The next life prints as well."""


class Printer(io.TextIOBase):
    """In the place of stdout and stderr."""

    encoding, errors, mode = "utf-8", "replace", "w"
    line_buffering = write_through = True

    def __init__(self, name, prints):
        self.name, self.buffer, self._prints, self._line = name, Bytes(self), prints, ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._prints(line)
        return len(text)

    def reconfigure(self, **_):
        pass

    def close(self):
        """The next life prints as well."""

    def begin(self):
        self._line = ""


printers = []


def install(prints):
    """`prints` is told each line. What stdin was is the host's."""
    printers[:] = [Printer(name, prints) for name in ("<stdout>", "<stderr>")]
    # They would write past these, to a descriptor.
    for name in ("enable", "register", "dump_traceback_later"):
        setattr(faulthandler, name, lambda *_, **__: None)
    begin()


def begin():
    """A life begins: nothing is left of the former one."""
    for printer in printers:
        printer.begin()
    sys.stdout, sys.stderr = printers
    sys.stdin = open(os.devnull)
