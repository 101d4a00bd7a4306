"""One driver a folder: whoever plays a sweep holds its lock, and says from time to time that it
still does.

A driver that was killed leaves its lock behind. It is nobody's once its process is gone from the
machine that it names, or, where that is another machine, once it has been silent for a while.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rebalsim.domain.errors import InputError
from rebalsim.spark.store import Store

LOCK = ".rebalsim-lock"
EVERY_S, SILENT_S = 15.0, 90.0


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Hold the folder. InputError where another driver does."""
    mine = json.dumps(
        {"host": socket.gethostname(), "process": os.getpid(), "key": os.urandom(8).hex()}
    )
    try:
        store.write_text(LOCK, mine, is_new=True)
    except FileExistsError:
        if holder := _holder(store):
            raise InputError(
                f"{store.out} is being played by {holder} — wait for it, or stop it and continue "
                "with --resume."
            ) from None
        store.write_text(LOCK, mine)
        if _text(store) != mine:  # another driver took the lock at the same moment
            raise InputError(
                f"{store.out} is being played by another driver — wait for it."
            ) from None
    ended = threading.Event()
    renewing = threading.Thread(target=_renew, args=(store, mine, ended), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        ended.set()
        renewing.join(5)
        if _text(store) == mine:
            store.delete(LOCK)


def _renew(store: Store, mine: str, ended: threading.Event) -> None:
    """Writes the lock anew from time to time, so that others see that its holder is alive."""
    while not ended.wait(EVERY_S):
        try:
            store.write_text(LOCK, mine)
        except Exception:
            return  # Spark has ended, so nobody renews the lock any more


def _text(store: Store) -> str:
    try:
        return store.read_text(LOCK)
    except LookupError:
        return ""


def _holder(store: Store) -> str:
    """Who holds it, in words; empty where nobody does any more."""
    try:
        told = json.loads(_text(store))
        host, process = str(told["host"]), int(told["process"])
    except (LookupError, RecursionError, TypeError, ValueError):
        host, process = "", 0
    if host == socket.gethostname():
        return f"process {process} on this machine" if _lives(process) else ""
    is_fresh = time.time() - store.changed_at(LOCK) < SILENT_S
    return f"process {process} on {host or 'some machine'}" if is_fresh else ""


def _lives(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
