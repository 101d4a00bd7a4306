"""Why a rebalance began, by the coordinator's reason, and put right by what the member's own log says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.voices import Voice

_ID = r"([^\s;)\[\],]+|\S.{0,400}?)"
_SECOND = 1_000_000


class TriggerKind(StrEnum):
    """What began a rebalance, as far as logs tell; the words stand in `reports/observed.py`."""

    JOIN = "join"
    REJOIN = "rejoin"
    STATIC_REJOIN = "static-rejoin"
    STATIC_RESTART = "static-restart"
    LEAVE = "leave"
    POLL_TIMEOUT = "poll-timeout"
    SESSION_TIMEOUT = "session-timeout"
    REBALANCE_TIMEOUT = "rebalance-timeout"
    SYNC_TIMEOUT = "sync-timeout"
    FOLLOW_UP = "follow-up"
    TOPIC_CHANGE = "topic-change"
    SUBSCRIPTION = "subscription"
    COORDINATOR_LOAD = "coordinator-load"
    CONVERT = "convert"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Trigger:
    """What began a rebalance, and which member (its id) did."""

    kind: TriggerKind
    member: str = ""
    is_sure: bool = True  # False where another reading is possible


_REASONS: tuple[tuple[re.Pattern[str], TriggerKind], ...] = (
    (re.compile(rf"Adding new member {_ID} with group instance ?id "), TriggerKind.JOIN),
    (re.compile(rf"[Rr]emoving member {_ID} on heartbeat expiration"), TriggerKind.SESSION_TIMEOUT),
    (re.compile(rf"[Rr]emoving member {_ID} on LeaveGroup"), TriggerKind.LEAVE),
    (re.compile(rf"[Ll]eader {_ID} re-joining group"), TriggerKind.REJOIN),
    (
        re.compile(rf"Updating metadata for static member {_ID} with instance id"),
        TriggerKind.STATIC_REJOIN,
    ),
    (re.compile(rf"Updating metadata for member {_ID} (?:during|in)"), TriggerKind.REJOIN),
    (re.compile(rf"[Mm]ember {_ID} (?:is )?joining group"), TriggerKind.REJOIN),
    (re.compile(rf"static member {_ID} with instance id"), TriggerKind.STATIC_REJOIN),
    (
        re.compile(r"[Rr]emoving \[?([^\]]{0,400}?)\]? on pending sync request expiration"),
        TriggerKind.SYNC_TIMEOUT,
    ),
    (re.compile(r"Freshly-loaded()"), TriggerKind.COORDINATOR_LOAD),
    (
        re.compile(rf"Downgrade group \S+ from consumer to classic for (?:member|static) ?{_ID}"),
        TriggerKind.LEAVE,
    ),
)


def trigger_of(reason: str, left: Sequence[Fact]) -> Trigger:
    """The trigger that a `Preparing to rebalance` line's reason names; `left`: who left just before."""
    if "explicit `LeaveGroup` request" in reason:
        return _left(reason, left)
    said = reason.rpartition("client reason:")[2].strip(" .)") if "client reason:" in reason else ""
    said = "" if said == "not provided" else said
    for pattern, kind in _REASONS:
        found = pattern.match(reason) or pattern.search(reason)
        if found is not None:
            return Trigger(_by_client(kind, said), found[1].rstrip("."), is_sure=bool(said))
    return Trigger(TriggerKind.OTHER)


def _left(reason: str, left: Sequence[Fact]) -> Trigger:
    named = re.search(r"request for \((.*?)\) members", reason)
    member = left[-1].member if left else named[1].split(", ")[0] if named is not None else ""
    poll = bool(left) and "poll timeout" in left[-1].why
    return Trigger(TriggerKind.POLL_TIMEOUT if poll else TriggerKind.LEAVE, member)


def _by_client(kind: TriggerKind, said: str) -> TriggerKind:
    if kind == TriggerKind.LEAVE:
        return TriggerKind.POLL_TIMEOUT if "poll timeout" in said else TriggerKind.LEAVE
    if kind == TriggerKind.REJOIN:
        return kind_of_rejoin(said)
    return kind


def kind_of_rejoin(why: str) -> TriggerKind:
    """What a client's reason for joining again comes to."""
    if "need to revoke" in why or "followup rebalance" in why or "ncremental unassign" in why:
        return TriggerKind.FOLLOW_UP
    if "to redistribute previously owned" in why:
        return TriggerKind.FOLLOW_UP
    lower = why.lower()
    if "metadata has changed" in lower or ("metadata for" in lower and "has changed" in lower):
        return TriggerKind.TOPIC_CHANGE
    return TriggerKind.SUBSCRIPTION if "subscription" in lower else TriggerKind.REJOIN


def refine(trigger: Trigger, begin_us: int, voice: Voice | None, is_early: bool = False) -> None:
    """Put right what the coordinator cannot know: a leave that was a poll timeout, a rejoin whose
    reason its client did not send. `is_early`: right after the last rebalance was over.
    """
    if voice is None or (trigger.kind == TriggerKind.REJOIN and not _tells_joins(voice)):
        if trigger.kind == TriggerKind.REJOIN and not trigger.is_sure and is_early:
            trigger.kind = TriggerKind.FOLLOW_UP
        return
    if trigger.kind == TriggerKind.LEAVE and _expired_about(voice, begin_us):
        trigger.kind = TriggerKind.POLL_TIMEOUT
    elif trigger.kind == TriggerKind.REJOIN:
        trigger.kind = _rejoin_by(voice, begin_us)


def _tells_joins(voice: Voice) -> bool:
    return any(
        f.what in (FactKind.JOINED, FactKind.REJOINING, FactKind.ASKING) for f in voice.facts
    )


def _expired_about(voice: Voice, begin_us: int) -> bool:
    """Its log tells of a poll timeout then; an application's logger may have been served late."""
    for f in voice.facts:
        if f.what == FactKind.POLL_EXPIRED and f.at_us >= begin_us - 2 * _SECOND:
            return not any(
                x.what == FactKind.JOINED and begin_us < x.at_us < f.at_us for x in voice.facts
            )
    return False


def _rejoin_by(voice: Voice, begin_us: int) -> TriggerKind:
    near = [f for f in voice.facts if -_SECOND <= f.at_us - begin_us <= 60_000]
    for f in reversed(near):
        if f.what == FactKind.REJOINING and (kind := kind_of_rejoin(f.why)) != TriggerKind.REJOIN:
            return kind
    if voice.is_cooperative and any(
        f.what == FactKind.REVOKED and f.partitions and f.at_us >= begin_us - 700_000 for f in near
    ):
        return TriggerKind.FOLLOW_UP
    if any(f.what == FactKind.LOST and f.at_us >= begin_us - 900_000 for f in near):
        return TriggerKind.JOIN
    return TriggerKind.REJOIN
