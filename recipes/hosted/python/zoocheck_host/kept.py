"""What outlives a life: the environment, the folder it is in, and the modules that stay loaded. Each life finds them as they
were before any had.

Of a module, and of each class in it, that is what their names stand for: what a list or a dictionary in them contains is not
looked at.
"""

import importlib.machinery
import os
import sys
import types
from operator import is_

from zoocheck_host import host

ABSENT = object()
LOADERS = (
    importlib.machinery.SourceFileLoader,
    importlib.machinery.SourcelessFileLoader,
    importlib.machinery.ExtensionFileLoader,
)


class Kept:
    """Made before a program is loaded, which may change what it imports as soon as it has: so loading is watched."""

    def __init__(self, stays):
        """`stays` tells of a module, by its name, whether the next life has it, too."""
        self.stays = stays
        self.environment = dict(os.environ)
        self.folder = os.getcwd()
        self.umask = os.umask(0)
        self.modules = {}
        # Those, and the classes in them, each with what its names stand for; by address, as a class need not have a hash.
        self.things = {}
        self.loads = False
        os.umask(self.umask)
        self._save()
        for loader in LOADERS:
            loader.exec_module = self._watched(loader.exec_module)

    def restore(self):
        os.chdir(self.folder)
        os.umask(self.umask)
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.modules.update(self.modules)
        for thing, names in self.things.values():
            put, taken = _difference(vars(thing), names)
            # No class of classes is asked whether it likes that.
            kind = types.ModuleType if isinstance(thing, types.ModuleType) else type
            for name, value in put:
                kind.__setattr__(thing, name, value)
            for name in taken:
                kind.__delattr__(thing, name)

    def _save(self):
        for name, module in list(sys.modules.items()):
            if name not in self.modules and self._is_kept(name, module):
                self.modules[name] = module
                for thing in [module, *filter(_is_class_of(name), vars(module).values())]:
                    self.things[id(thing)] = thing, dict(vars(thing))

    def _is_kept(self, name, module):
        path = getattr(module, "__file__", None) or "<none>"
        return isinstance(module, types.ModuleType) and not host.is_ours_or_pythons(path) and self.stays(name, module)

    def _watched(self, load):
        def exec_module(loader, module):
            # What one module imports, and changes of others, is part of its being loaded.
            if self.loads or not self._is_kept(module.__name__, module):
                return load(loader, module)
            before = [(names, dict(vars(thing)), thing) for thing, names in self.things.values()]
            self.loads = True
            try:
                load(loader, module)
            finally:
                self.loads = False
            for names, then, thing in before:
                put, taken = _difference(then, vars(thing))
                names.update(put)
                for name in taken:
                    names.pop(name, None)
            self._save()
            # The last that is done when a module is loaded, and only once.
            parent, _, child = module.__name__.rpartition(".")
            if parent in self.modules:
                self.things[id(self.modules[parent])][1][child] = sys.modules[module.__name__]

        return exec_module


def _is_class_of(name):
    return lambda value: issubclass(type(value), type) and value.__module__ == name


def _difference(then, now):
    """What was put and what was taken where there are names `now`."""
    # Most often nothing was, and this is many times faster.
    if len(then) == len(now) and all(map(is_, then, now)) and all(map(is_, then.values(), now.values())):
        return (), ()
    put = [(name, value) for name, value in now.items() if then.get(name, ABSENT) is not value]
    return put, [name for name in then if name not in now]
