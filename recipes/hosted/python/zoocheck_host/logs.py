"""What a program has set up of `logging`, which stays when a life is over."""

import logging
import time


def begin():
    """A life begins: nothing is left of the former one."""
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        if isinstance(logger, logging.Logger):
            # Those that do nothing are a package's, which is not loaded again.
            logger.handlers = [handler for handler in logger.handlers if isinstance(handler, logging.NullHandler)]
            logger.filters = []
            logger.propagate, logger.disabled = True, False
            logger.level = logging.NOTSET
    logging.root.level = logging.WARNING
    logging.disable(logging.NOTSET)
    logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
