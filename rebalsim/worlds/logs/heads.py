"""A line's head and message: JSON documents of any of the usual encoders, and plain lines."""

from __future__ import annotations

import json
from functools import lru_cache

from rebalsim.worlds.logs.times import Stamp, from_number, stamp_of

_MESSAGES = ("message", "msg", "@message", "short_message", "textPayload", "event", "log")
_TIMES = ("@timestamp", "timestamp", "time", "ts", "timeMillis", "asctime", "instant", "datetime")
_THREADS = ("thread_name", "process.thread.name", "_process_thread_name", "threadName", "thread")
_LOGGERS = ("logger_name", "log.logger", "_log_logger", "loggerName", "logger", "name")
Document = dict[str, object]


def document_in(text: str) -> Document | None:
    """The JSON object that a line is; None where it is none."""
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def message_in(document: Document) -> str:
    """What the application said; empty where nothing is its message."""
    for key in _MESSAGES:
        value = document.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and isinstance(value.get("message"), str):
            return str(value["message"])
    return ""


def stamp_in(document: Document) -> Stamp | None:
    """The document's time, written as text, as a number, or as log4j2's instant."""
    for key in _TIMES:
        value = document.get(key)
        if isinstance(value, str) and (stamp := stamp_of(value[:60])) is not None:
            return stamp
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float) and (stamp := from_number(value)) is not None:
            return stamp
        if isinstance(value, dict) and isinstance(value.get("epochSecond"), int):
            nanos = value.get("nanoOfSecond", 0)
            at = value["epochSecond"] * 1_000_000 + (nanos if isinstance(nanos, int) else 0) // 1000
            return Stamp(at, 0, True, True, 1_000)
    return None


def thread_in(document: Document) -> str:
    """The thread's name."""
    return _named(document, _THREADS, ("process", "thread", "name"))


def logger_in(document: Document) -> str:
    """The logger's name."""
    return _named(document, _LOGGERS, ("log", "logger"))


def _named(document: Document, keys: tuple[str, ...], nested: tuple[str, ...]) -> str:
    for key in keys:
        if isinstance(value := document.get(key), str):
            return value
    inner: object = document
    for key in nested:
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, str) else ""


def thread_before(text: str, end: int) -> str:
    """The last bracketed word before the message that is no date: where patterns put the thread."""
    close = text.rfind("]", 0, end)
    if close < 0 or (close == 24 and text[:2] == "[2"):  # Kafka's own pattern: only a date
        return ""
    begin = text.rfind("[", 0, close)
    name = text[begin + 1 : close].strip()
    return "" if begin < 0 or name[:4].isdigit() else name


def without_logger(message: str) -> str:
    """Kafka's own pattern puts the logger behind the message."""
    if message[-1:] != ")":
        message = message.rstrip()
        if message[-1:] != ")":
            return message
    begin = message.rfind(" (")
    return message[:begin] if begin >= 0 and _is_logger(message[begin + 2 : -1]) else message


@lru_cache(4_096)
def _is_logger(name: str) -> bool:
    bare = name.replace(".", "").replace("$", "").replace("_", "")
    return bare.isalnum() and bare.isascii()
