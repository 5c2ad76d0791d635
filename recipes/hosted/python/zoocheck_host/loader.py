"""Run by `python -c`: stdin begins with the host's modules, so that nothing need be installed. Starts the host."""

import sys

# With `-c`, it begins with the current folder, whose files are not meant by what the host imports.
sys.path[:] = [folder for folder in sys.path if folder]

import importlib.abc
import importlib.util
import os
import struct
import traceback


class Told(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Modules of which only the text is there."""

    def __init__(self, stdin):
        self.texts = {"zoocheck_host": ""}
        for _ in range(int(stdin.readline())):
            name, length = stdin.readline().split()
            self.texts["zoocheck_host." + name.decode()] = stdin.read(int(length)).decode()

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in self.texts else None

    def is_package(self, name):
        return name == "zoocheck_host"

    def get_source(self, name):
        return self.texts[name]

    def get_code(self, name):
        return compile(self.texts[name], "<%s>" % name, "exec")


leave = os._exit
sys.meta_path.insert(0, Told(sys.stdin.buffer))
try:
    from zoocheck_host.host import Host

    host = Host(sys.stdin.buffer)
except ImportError as error:
    # The fourth kind of answer: it cannot go on, and why.
    why = "%s has no %s: pip install kazoo==2.11.0 greenlet, and ZOOCHECK_PYTHON names the Python that has them"
    why = (why % (sys.executable, error.name)).encode()
    sys.__stdout__.buffer.write(struct.pack(">IBI", 5 + len(why), 4, len(why)) + why)
    sys.__stdout__.buffer.flush()
except BaseException:
    # The host's own fault; Python itself would wait for threads that are not its own any more.
    traceback.print_exc(file=sys.__stderr__)
    leave(1)
else:
    host.serve()
