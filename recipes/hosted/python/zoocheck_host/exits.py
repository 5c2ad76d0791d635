"""How lives end: what one has registered with `atexit` runs at its end, and `os._exit` ends it at once."""

import atexit
import os
import weakref

from greenlet import GreenletExit

functions = []


def install(exit_at_once):
    """Gives what `os._exit` was."""
    atexit.register, atexit.unregister = register, unregister
    leave, os._exit = os._exit, exit_at_once
    return leave


def begin():
    functions.clear()


def register(function, *args, **kwargs):
    # What Python itself does with what is left when a process ends is done with it as each life ends.
    if function != weakref.finalize._exitfunc:
        functions.append((function, args, kwargs))
    return function


def unregister(function):
    functions[:] = [kept for kept in functions if kept[0] != function]


def run(tell):
    """The last one comes first; an error is told, and the next one comes."""
    while functions:
        function, args, kwargs = functions.pop()
        try:
            function(*args, **kwargs)
        except GreenletExit:
            # The life is over.
            raise
        except BaseException as error:
            tell(error)
