"""A line's head and message: JSON documents of any of the usual encoders, and plain lines."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from rebalsim.worlds.logs.times import Stamp, from_number, stamp_of

_MESSAGES = (
    *("message", "msg", "@message", "short_message", "textPayload", "event", "log", "line", "_raw"),
    *("body", "Message", "@m", "RenderedMessage"),
)
_LOWER_TIMES = ("timestamp", "time", "ts", "timeMillis", "asctime", "instant", "datetime", "date")
_TIMES = (
    *("@timestamp", *_LOWER_TIMES, "@t", "_time", "timeUnixNano"),
    *(name.capitalize() for name in _LOWER_TIMES),  # as .NET spells them
)
_THREADS = ("thread_name", "process.thread.name", "_process_thread_name", "threadName", "thread")
_LOGGERS = ("logger_name", "log.logger", "_log_logger", "loggerName", "logger", "name")
_INNER = ("_source", "jsonPayload", "result", "fields")  # where exporters keep the document itself
_SECONDS = (("epochSecond", "nanoOfSecond"), ("seconds", "nanos"))
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
    inner = inner_of(document)
    return message_in(inner) if inner is not None else ""


def inner_of(document: Document) -> Document | None:
    """The document that an exporter has put its own around."""
    for key in _INNER:
        if isinstance(value := document.get(key), dict):
            return value
    return None


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
        if isinstance(value, dict) and (stamp := _of_parts(value)) is not None:
            return stamp
    inner = inner_of(document)
    return stamp_in(inner) if inner is not None else None


def _of_parts(value: Document) -> Stamp | None:
    """A time told in seconds and what is above them."""
    for whole, part in _SECONDS:
        seconds, nanos = value.get(whole), value.get(part, 0)
        if isinstance(seconds, int) and isinstance(nanos, int) and 0 <= seconds < 1 << 40:
            return Stamp(seconds * 1_000_000 + nanos // 1_000, 0, True, True, 1_000)
    return None


def thread_in(document: Document) -> str:
    """The thread's name."""
    return _named(document, _THREADS, ("process", "thread", "name"))


def logger_in(document: Document) -> str:
    """The logger's name."""
    return _named(document, _LOGGERS, ("log", "logger"))


def _named(document: Document, keys: tuple[str, ...], nested: tuple[str, ...]) -> str:
    for key in keys:
        value = document.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and isinstance(name := value.get("name"), str):
            return name
    found: object = document
    for key in nested:
        found = found.get(key) if isinstance(found, dict) else None
    if isinstance(found, str):
        return found
    inner = inner_of(document)
    return _named(inner, keys, nested) if inner is not None else ""


_PAIR = re.compile(r'(?:^|\s)(?:msg|message)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


def unquoted(text: str) -> str:
    """The message of a line of `key=value` pairs (`time=… level=info msg="…"`), with the pairs behind
    it, which some clients' facts are; any other text as it is.
    """
    found = _PAIR.search(text)
    if found is None:
        return text
    message = _ESCAPED.sub(lambda m: _MEANT.get(m[1], m[1]), found[1])
    return message + text[found.end() :]


def thread_before(text: str, end: int) -> str:
    """The last bracketed word before the message that is no date: where patterns put the thread."""
    close = text.rfind("]", 0, end)
    if close < 0 or (close == 24 and text[:2] == "[2"):  # Kafka's own pattern: only a date
        return ""
    begin = text.rfind("[", 0, close)
    name = text[begin + 1 : close].strip()
    return "" if begin < 0 or name[:4].isdigit() else name


def thread_behind(text: str) -> str:
    """The thread where the pattern puts it last: `… (logger) [thread]`."""
    found = _TAIL.search(text, max(0, len(text) - 400)) if text[-1:] == "]" else None
    return found[2] if found is not None and found[2] else ""


# ` (logger)`, ` (logger:line)`, ` (logger) [thread]`: what patterns put behind the message
_TAIL = re.compile(r" \(([\w.$-]{1,200})(?::(?:\d{1,6}|\?))?\)(?: \[([^\[\]]{1,120})\])?\s*$")


def without_logger(message: str) -> str:
    """A message without the logger that its pattern puts behind it."""
    return message[: message_end(message, 0)]


def message_end(text: str, begin: int) -> int:
    """Where the message ends that begins here: Kafka's own pattern puts the logger behind it,
    Strimzi's the thread behind that.
    """
    end = len(text)
    last = text[-1:]
    if last != ")" and last != "]":
        end = max(begin, len(text.rstrip()))
        last = text[end - 1 : end]
    if last == ")":
        logger = text.rfind(" (", begin, end)
        if logger >= 0 and _is_logger(text[logger + 2 : end - 1]):
            return logger
    elif last != "]" or text.rfind(") [", begin, end) < 0:
        return end
    found = _TAIL.search(text, max(begin, end - 400), end)
    return found.start() if found is not None else end


@lru_cache(4_096)
def _is_logger(name: str) -> bool:
    bare = name.replace(".", "").replace("$", "").replace("_", "")
    return bare.isalnum() and bare.isascii()
