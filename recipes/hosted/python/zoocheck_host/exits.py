"""`atexit`: what a life has registered runs at its end."""

import atexit
import weakref

from greenlet import GreenletExit

functions = []


def install():
    atexit.register, atexit.unregister = register, unregister


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
