"""What a recording must be to be replayed: anybody's file may be given, and it must neither
crash a replay nor keep it busy for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_LONGEST_MS = 7 * 86_400_000
_HIGHEST_RATE, _MOST_PARTITIONS = 1_000_000, 10_000
_MOST_RECORDS = 10_000_000
_VERSION = re.compile(r"\d+\.\d+")
_AT_LEAST_ONE = (
    "x.poll_ms",
    "heartbeat.interval.ms",
    "fetch.max.wait.ms",
)  # what comes again and again takes time


def unfit(document: dict[str, Any]) -> str:
    """What could not be replayed, or never came to an end; empty where all is well."""
    for is_right, said in _RULES:
        if not is_right(document):
            return said
    wrong = _out_of_bounds(document)
    return f"{', '.join(wrong)}: out of bounds" if wrong else ""


def _is_number(value: Any, least: float, most: float) -> bool:
    return isinstance(value, (int, float)) and least <= value <= most


def _settings(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [document["conf"], *document.get("members", {}).values()]


def _who(event: dict[str, Any]) -> Any:
    """A consumer in most recordings, a worker in Connect's."""
    return event.get("member", event.get("worker"))


def _has_events(document: dict[str, Any]) -> bool:
    return all(
        isinstance(event, dict)
        and isinstance(_who(event), str)
        and _is_number(event.get("t"), -_LONGEST_MS, _LONGEST_MS)
        for event in document["events"]
    )


def _grows(document: dict[str, Any]) -> bool:
    return all(
        _who(event) in document["topics"] and _is_number(event.get("ms"), 1, _MOST_PARTITIONS)
        for event in document["events"]
        if event.get("ev") == "partitions_done"
    )


def _records(document: dict[str, Any]) -> float:
    """How many arrive in all of it: each delivery is played, and that twenty times over."""
    partitions = sum(document["topics"].values())
    return float(document["rate_per_partition"] * partitions * document["end"] / 1000)


def _out_of_bounds(document: dict[str, Any]) -> list[str]:
    wrong = [
        key
        for settings in _settings(document)
        for key, value in settings.items()
        if key.endswith((".ms", "_ms", "_us"))
        and not _is_number(value, key in _AT_LEAST_ONE, _LONGEST_MS * 1000)
    ]
    if not _is_number(document["rate_per_partition"], 0, _HIGHEST_RATE):
        wrong.append("rate_per_partition")
    if not all(
        isinstance(n, int) and 0 <= n <= _MOST_PARTITIONS for n in document["topics"].values()
    ):
        wrong.append("topics")
    if not wrong and _records(document) > _MOST_RECORDS:
        wrong.append(f"{_records(document):,.0f} records")
    return wrong


# each in the light of those before it
_RULES: tuple[tuple[Callable[[dict[str, Any]], bool], str], ...] = (
    (
        lambda d: isinstance(d["conf"], dict) and isinstance(d["events"], list),
        "conf is an object and events a list",
    ),
    (lambda d: _is_number(d["end"], 0, _LONGEST_MS), "it ends within a week, by whole ms"),
    (_has_events, "each event has a member and a time"),
    (
        lambda d: (
            isinstance(members := d.get("members", {}), dict)
            and all(isinstance(one, dict) for one in members.values())
        ),
        "members are objects",
    ),
    (
        lambda d: all(
            isinstance(value, (str, int, float))
            for settings in _settings(d)
            for value in settings.values()
        ),
        "a setting is a text or a number",
    ),
    (lambda d: isinstance(d["topics"], dict), "topics: out of bounds"),
    (_grows, "partitions are added to a topic of the header, up to a number"),
    (
        lambda d: (
            isinstance(ids := d.get("topic_ids", {}), dict)
            and all(isinstance(one, str) for one in ids.values())
        ),
        "topic_ids are texts",
    ),
    (
        lambda d: (
            bool(_VERSION.match(str(d.get("kafka", "4.3"))))
            and isinstance(d.get("client", ""), str)
        ),
        "kafka is a version, as in 4.3.1, and client a text",
    ),
)
