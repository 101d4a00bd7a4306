"""Python's collector of cycles, held back while millions of objects are made that stay.

It looks through everything that lives each time that grew by a quarter, and through the young
ones every few hundred: with a trace that only grows that is a third of the time, and finds
nothing. What does die in cycles dies young, so the young are still looked through, seldom.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (100_000, 20, 1_000)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Within this block; a collector that is switched off stays so, and afterwards it is as
    it was.
    """
    if not hasattr(gc, "get_threshold"):  # PyPy's collector is of another kind, and has none
        yield
        return
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
