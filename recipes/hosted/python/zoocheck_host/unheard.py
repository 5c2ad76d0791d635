"""Errors that nobody hears of: who runs callbacks, pools and tasks logs them at most, and goes on."""

import asyncio
import concurrent.futures
import logging
import sys
import weakref

import kazoo.client
import kazoo.handlers.threading
import kazoo.recipe.cache

# Those of this life that have failed, in that order. A task that is dropped tells of it itself.
futures, tasks = [], []


def install(tell):
    """`tell` is told of each."""

    class Logger(logging.Logger):
        def exception(self, *args, **named):
            tell(sys.exc_info()[1])
            super().exception(*args, **named)

    of_kazoo = kazoo.client.log, kazoo.handlers.threading.log, kazoo.recipe.cache.logger
    for logger in [*of_kazoo, concurrent.futures._base.LOGGER]:
        logger.__class__ = Logger
    future = concurrent.futures.Future
    for name in ("result", "exception", "cancel", "add_done_callback"):
        setattr(future, name, _asks(getattr(future, name)))
    future.set_exception = _notes(future.set_exception, futures.append)


def install_for_tasks():
    """Where they are Python's own, and not C's: those tell of an error when they are dropped."""
    asyncio.Future.set_exception = _notes(asyncio.Future.set_exception, lambda task: tasks.append(weakref.ref(task)))


def begin():
    futures.clear()
    tasks.clear()


def _asks(method):
    def asks(future, *args, **named):
        future._is_asked = True
        return method(future, *args, **named)

    return asks


def _notes(set_exception, note):
    def fails(future, error):
        set_exception(future, error)
        note(future)

    return fails


def end(tell):
    """A program says that all is done. Of what it has not asked so far, it will ask nothing."""
    for future in futures:
        if not hasattr(future, "_is_asked"):
            tell(future._exception)
    for task in [task() for task in tasks]:
        if task is not None:
            # As if it were dropped now.
            task.__del__()
            task._log_traceback = False
