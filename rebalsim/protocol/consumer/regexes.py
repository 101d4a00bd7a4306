"""Subscriptions by regular expression: the broker resolves them, not at once but on a thread of its
own, and at most every 10 s.

The thread is a timer that is due at once; what it finds counts from the step in which it fires.
A member that joins with an expression nobody had before therefore gets its partitions at a later
heartbeat. Kafka matches with RE2/J (re2.py).
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from rebalsim.domain.pattern import BadPattern, Matcher
from rebalsim.protocol.consumer.group import MS, REFRESH_US, ConsumerGroup, ResolvedRegex
from rebalsim.protocol.consumer.member import Member
from rebalsim.protocol.consumer.re2 import NotRe2, to_python
from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.effects import Effect, Note, SetTimer
from rebalsim.protocol.errors_of_kafka import Error

TIMER = "regexes"
PAUSE_US = 10_000 * MS  # between two resolutions (GroupMetadataManager)


class RegexChange(IntEnum):
    """What a heartbeat did to its member's regular expression. Only the last bumps the group
    epoch at once.
    """

    NONE = 0
    UPDATED = 1
    RESOLVED = 2  # the regular expression was given up, or its topics are known already


def note_regex(
    group: ConsumerGroup, before: Member, after: Member, now_us: int, effects: list[Effect]
) -> RegexChange:
    """Has the member's expression changed, and is it time to resolve the group's?
    (GroupMetadataManager#maybeUpdateRegularExpressions)
    """
    change, is_new = _change(group, before, after)
    if before.regex == after.regex and not group.regex_counts:
        return change
    if group.regexes_are_due:
        return change
    latest = next(iter(group.regexes.values()), None)
    if latest is not None and now_us <= latest.at_us + PAUSE_US:
        return change
    expected = _expected(group, before, after)
    if expected and (is_new or _is_outdated(group, latest, expected, now_us)):
        group.regexes_are_due = True
        effects.append(SetTimer(TIMER, now_us))
    return change


def _change(group: ConsumerGroup, before: Member, after: Member) -> tuple[RegexChange, bool]:
    """How the member's expression changed, and whether it is one that the group has yet to
    resolve.
    """
    if before.regex == after.regex:
        return RegexChange.NONE, False
    if not after.regex:
        return RegexChange.RESOLVED, False
    if after.regex not in group.regex_counts:
        pattern(after.regex)
        return RegexChange.UPDATED, True
    resolved = after.regex in group.regexes
    return RegexChange.RESOLVED if resolved else RegexChange.UPDATED, False


def _expected(group: ConsumerGroup, before: Member, after: Member) -> int:
    """How many expressions the group has once the member has its new one."""
    counts = dict(group.regex_counts)
    for regex, by in ((before.regex, -1), (after.regex, 1)):
        if regex:
            counts[regex] = counts.get(regex, 0) + by
    return sum(count > 0 for count in counts.values())


def _is_outdated(
    group: ConsumerGroup, latest: ResolvedRegex | None, expected: int, now_us: int
) -> bool:
    """What was resolved last is not of these expressions, of older topics, or too long ago."""
    if latest is None or expected != len(group.regexes):
        return True
    return (
        latest.version < group.newest_topics_version
        or now_us > latest.at_us + group.settings.regex_refresh_interval_us
    )


def resolve(group: ConsumerGroup, now_us: int) -> list[Effect]:
    """The thread is through: store what the expressions stand for, and bump the group epoch if
    that changed anything.
    """
    group.regexes_are_due = False
    changed = False
    for regex in group.regex_counts:
        matches = pattern(regex).matches
        topics = tuple(sorted(name for name in group.topics.by_name if matches(name)))
        known = group.regexes.get(regex)
        changed = changed or topics != (known.topics if known else ())
        group.regexes[regex] = ResolvedRegex(topics, group.topics.version, now_us)
    metadata = group.metadata_of(group.subscribed_names())
    if not changed and metadata == group.metadata:
        return []
    group.epoch += 1
    group.metadata = metadata
    group.refresh_due_us = now_us + REFRESH_US
    return [
        Note("EpochBumped", {"epoch": group.epoch, "trigger": "regex-resolved", "member_id": ""})
    ]


MOST_STATES = 12_000  # RE2 takes a repeat of a thousand


@lru_cache(maxsize=256)
def pattern(regex: str) -> Matcher:
    """The compiled expression; INVALID_REGULAR_EXPRESSION if RE2 would not take it."""
    try:
        return Matcher(to_python(regex), MOST_STATES)
    except (NotRe2, BadPattern, OverflowError) as e:
        raise Refusal(Error.INVALID_REGULAR_EXPRESSION, f"{regex}: {e}") from None
