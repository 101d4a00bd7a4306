"""Why a rebalance began, by the coordinator's reason, and put right by what the member's own log says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.worlds.logs.facts import Fact
from rebalsim.worlds.logs.voices import Voice

_ID = r"([^\s;)\[\],]+|\S.{0,400}?)"
_SECOND = 1_000_000


@dataclass(slots=True)
class Trigger:
    """What began a rebalance, and which member (its id) did."""

    kind: str
    member: str = ""
    is_sure: bool = True  # False where another reading is possible


_REASONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"Adding new member {_ID} with group instance ?id "), "join"),
    (re.compile(rf"[Rr]emoving member {_ID} on heartbeat expiration"), "session-timeout"),
    (re.compile(rf"[Rr]emoving member {_ID} on LeaveGroup"), "leave"),
    (re.compile(rf"[Ll]eader {_ID} re-joining group"), "rejoin"),
    (re.compile(rf"Updating metadata for static member {_ID} with instance id"), "static-rejoin"),
    (re.compile(rf"Updating metadata for member {_ID} (?:during|in)"), "rejoin"),
    (re.compile(rf"[Mm]ember {_ID} (?:is )?joining group"), "rejoin"),
    (re.compile(rf"static member {_ID} with instance id"), "static-rejoin"),
    (
        re.compile(r"[Rr]emoving \[?([^\]]{0,400}?)\]? on pending sync request expiration"),
        "sync-timeout",
    ),
    (re.compile(r"Freshly-loaded()"), "coordinator-load"),
    (
        re.compile(rf"Downgrade group \S+ from consumer to classic for (?:member|static) ?{_ID}"),
        "leave",
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
    return Trigger("other")


def _left(reason: str, left: Sequence[Fact]) -> Trigger:
    named = re.search(r"request for \((.*?)\) members", reason)
    member = left[-1].member if left else named[1].split(", ")[0] if named is not None else ""
    poll = bool(left) and "poll timeout" in left[-1].why
    return Trigger("poll-timeout" if poll else "leave", member)


def _by_client(kind: str, said: str) -> str:
    if kind == "leave":
        return "poll-timeout" if "poll timeout" in said else "leave"
    if kind == "rejoin":
        return kind_of_rejoin(said)
    return kind


def kind_of_rejoin(why: str) -> str:
    """What a client's reason for joining again comes to."""
    if "need to revoke" in why or "followup rebalance" in why or "ncremental unassign" in why:
        return "follow-up"
    if "to redistribute previously owned" in why:
        return "follow-up"
    lower = why.lower()
    if "metadata has changed" in lower or ("metadata for" in lower and "has changed" in lower):
        return "topic-change"
    return "subscription" if "subscription" in lower else "rejoin"


def refine(trigger: Trigger, begin_us: int, voice: Voice | None, is_early: bool = False) -> None:
    """Put right what the coordinator cannot know: a leave that was a poll timeout, a rejoin whose
    reason its client did not send. `is_early`: right after the last rebalance was over.
    """
    if voice is None or (trigger.kind == "rejoin" and not _tells_joins(voice)):
        if trigger.kind == "rejoin" and not trigger.is_sure and is_early:
            trigger.kind = "follow-up"
        return
    if trigger.kind == "leave" and _expired_about(voice, begin_us):
        trigger.kind = "poll-timeout"
    elif trigger.kind == "rejoin":
        trigger.kind = _rejoin_by(voice, begin_us)


def _tells_joins(voice: Voice) -> bool:
    return any(f.what in ("joined", "rejoining", "asking") for f in voice.facts)


def _expired_about(voice: Voice, begin_us: int) -> bool:
    """Its log tells of a poll timeout then; an application's logger may have been served late."""
    for f in voice.facts:
        if f.what == "poll-expired" and f.at_us >= begin_us - 2 * _SECOND:
            return not any(x.what == "joined" and begin_us < x.at_us < f.at_us for x in voice.facts)
    return False


def _rejoin_by(voice: Voice, begin_us: int) -> str:
    near = [f for f in voice.facts if -_SECOND <= f.at_us - begin_us <= 60_000]
    for f in reversed(near):
        if f.what == "rejoining" and (kind := kind_of_rejoin(f.why)) != "rejoin":
            return kind
    if voice.is_cooperative and any(
        f.what == "revoked" and f.partitions and f.at_us >= begin_us - 700_000 for f in near
    ):
        return "follow-up"
    if any(f.what == "lost" and f.at_us >= begin_us - 900_000 for f in near):
        return "join"
    return "rejoin"
