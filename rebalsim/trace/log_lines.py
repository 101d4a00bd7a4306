"""The anatomy of one log line: when, which client or broker, in which thread, and what it says.
Layouts differ; Kafka's own prefixes do not.

Understood are an ISO-like time anywhere near the start (`2026-11-18 15:40:07,559`, `[2026-…]`,
with `T`, `.`, a zone), JSON lines with a message and a time, and Kafka's `[Consumer clientId=…,
groupId=…]` and `[GroupCoordinator …]` markers. Nothing in a line can make this fail.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

LONGEST = 100_000  # characters; what is longer was no line of Kafka's

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?"
)
_CLIENT = re.compile(
    r"\[Consumer (?:instanceId=(?P<instance>[^,\]]{1,249}), "
    r")?clientId=(?P<client>[^,\]]{0,249})(?:, groupId=(?P<group>[^\]]{0,249}))?\] "
)
_BROKER = re.compile(
    r"\[GroupCoordinator (?:id=)?(?P<broker>\d{1,9})(?: topic=\S{1,249} partition=\d{1,9})?\]:? "
)
_THREAD = re.compile(r"\[([^\[\]]{1,300})\]")
_LOGGER_AT_END = re.compile(r" \((?:org\.apache\.)?kafka\.[\w.$]{1,200}\)\s*$")
_LOGGER = re.compile(
    r"\b(?:org\.apache\.kafka|o\.a\.k(?:afka)?)\.[\w.$]{1,200}|\bConsumerUtils\b|\bSubscriptionState\b"
)
_MESSAGE_KEYS = ("message", "msg", "@message", "log")
_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


@dataclass(slots=True)
class LogLine:
    """One line of Kafka's, taken apart; `text` is what the template says, continuation lines
    included.
    """

    at_us: int  # since 1970
    text: str
    client: str = ""  # empty where the line does not say
    group: str = ""
    instance: str | None = None
    thread: str = ""
    is_broker: bool = False


def take_apart(line: str) -> LogLine | None:
    """The line's parts; None if it is none of Kafka's (no time, or nothing that marks it as
    Kafka's).
    """
    if len(line) > LONGEST:
        return None
    line = line.rstrip("\r\n")
    when = ""
    if line.startswith("{"):
        line, when = _from_json(line)
    stamp = _TIME.search(when or line[:120]) or _TIME.search(line[:120])
    if stamp is None:
        return None
    at = _instant(stamp)
    if at is None:
        return None
    client = _CLIENT.search(line)
    if client is not None:
        text = _LOGGER_AT_END.sub("", line[client.end() :])
        return LogLine(
            at,
            text,
            client["client"],
            client["group"] or "",
            client["instance"],
            _thread(line[: client.start()]),
        )
    broker = _BROKER.search(line)
    if broker is not None:
        return LogLine(at, _LOGGER_AT_END.sub("", line[broker.end() :]), is_broker=True)
    if _LOGGER.search(line[:400]) is None and _LOGGER_AT_END.search(line[-300:]) is None:
        return None
    head, dash, text = line.partition(" - ")
    if not dash:
        head, _, text = line.partition(" : ")
    return LogLine(at, _LOGGER_AT_END.sub("", text), thread=_thread(head)) if text else None


def _from_json(line: str) -> tuple[str, str]:
    """The message and the time of a JSON log line; the line itself if it is not one."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line, ""
    if not isinstance(document, dict):
        return line, ""
    message = next((document[k] for k in _MESSAGE_KEYS if isinstance(document.get(k), str)), None)
    when = next(
        (
            value
            for value in document.values()
            if isinstance(value, str) and len(value) < 60 and _TIME.match(value)
        ),
        "",
    )
    if message is None:
        return line, ""
    logger = next(
        (
            document[k]
            for k in ("logger_name", "logger", "loggerName")
            if isinstance(document.get(k), str)
        ),
        "",
    )
    thread = next(
        (document[k] for k in ("thread_name", "thread") if isinstance(document.get(k), str)), ""
    )
    return f"[{thread}] {logger} - {message}", when


def _instant(stamp: re.Match[str]) -> int | None:
    """µs since 1970; None where there is no such day."""
    year, month, day, hour, minute, second = (int(stamp[i]) for i in range(1, 7))
    if not (
        year >= 1970
        and 1 <= month <= 12
        and 1 <= day <= 31
        and hour < 24
        and minute < 60
        and second < 61
    ):
        return None
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400 - 477  # since 1970
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (
        (year - 1970) * 365
        + leaps
        + _DAYS_BEFORE[month - 1]
        + (1 if is_leap and month > 2 else 0)
        + day
        - 1
    )
    ahead = 0
    if stamp[8] and stamp[8] != "Z":
        ahead = (int(stamp[8][1:3]) * 60 + int(stamp[8][-2:])) * (-1 if stamp[8][0] == "-" else 1)
    whole = days * 86_400 + hour * 3_600 + (minute - ahead) * 60 + second
    return whole * 1_000_000 + int((stamp[7] or "0").ljust(6, "0")[:6])


def _thread(head: str) -> str:
    found = [m[1] for m in _THREAD.finditer(head) if not m[1][:4].isdigit()]
    return found[-1] if found else ""
