"""What lint says of the settings that a fleet's members print: a small story for each set of settings."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rebalsim.domain.errors import RebalsimError
from rebalsim.lint.registry import check
from rebalsim.scenario.load import story_of

OF_STORIES = ("idle-members", "uneven-share")  # of these small stories' own shape, not of settings
_SPOKEN_OF = frozenset(
    (
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "max.poll.interval.ms",
        "max.poll.records",
        "partition.assignment.strategy",
        "enable.auto.commit",
        "auto.commit.interval.ms",
        "metadata.max.age.ms",
        "group.protocol",
    )
)


def condemned(settings: Iterable[tuple[str, str]], most: int = 20) -> list[tuple[str, str]]:
    """(group, finding) of these (group, settings as JSON); each finding of a group once."""
    known: dict[str, list[str]] = {}
    found: dict[tuple[str, str], None] = {}
    for group, told in sorted(settings):
        if told not in known:
            known[told] = findings(json.loads(told))
        for finding in known[told]:
            found[group, finding] = None
    return list(found)[:most]


def findings(settings: dict[str, str]) -> list[str]:
    """What lint warns of where a group has these settings."""
    config = {k: _value(k, v) for k, v in settings.items() if k in _SPOKEN_OF and v}
    story = {
        "topics": {"records": {"partitions": 4, "rate": "1/s"}},
        "group": {"members": 2, "config": config},
        "replay": ["as-written"],
    }
    if not config:
        return []
    try:
        problems = check(story_of(json.dumps(story).encode(), "settings"))
    except RebalsimError:
        return []
    said = (p.message for p in problems if p.is_warning and p.rule not in OF_STORIES)
    return list(dict.fromkeys(text.replace("c0 and c1", "its members") for text in said))


def _value(key: str, told: str) -> object:
    """As a scenario writes it; assignors by their short names."""
    if key == "partition.assignment.strategy":
        names = [name.strip().removeprefix("class ") for name in told.strip("[]").split(",")]
        return [_ASSIGNORS.get(name.rpartition(".")[2], name) for name in names]
    if told in ("true", "false"):
        return told == "true"
    return int(told) if told.isdigit() else told.lower()


_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
