"""A group's settings as its logs show them: what members print, and what follows from when things
happened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rebalsim.domain.habits import JAVA
from rebalsim.incident.beats import NEW_MS, guessed_session_us, new_session_us
from rebalsim.scenario.profiles import CLIENTS
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import FactKind
from rebalsim.worlds.logs.measured import USUAL_MS, beat_ms, classic_beat_ms
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.stops import StopKind

KEPT = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.max.age.ms",
    "auto.commit.interval.ms",
)
MOST_SESSION_S = 60  # that brokers allow, unless they are told otherwise
ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
    "RoundRobinAssigner": "roundrobin",  # KafkaJS's
}


def is_consumer_group(story: GroupStory) -> bool:
    """Whether it speaks the consumer protocol."""
    return any(r.is_epoch for r in story.rounds)


def kafka_of(story: GroupStory) -> str:
    """The version that a client tells of itself, as far as it is played."""
    told = Counter(f.why for v in story.voices for f in v.facts if f.what == FactKind.VERSION)
    if not told:
        return ""
    parts = told.most_common(1)[0][0].split(".")
    return ".".join(parts[:2]) if len(parts) >= 2 and all(p.isdigit() for p in parts[:2]) else ""


def cluster_lines(story: GroupStory) -> list[str]:
    """What the brokers' settings for consumer groups must have been."""
    if not is_consumer_group(story):
        return []
    beat = beat_ms(story)
    session = new_session_us(story, (beat or NEW_MS) * 1_000) // 1_000_000
    told = []
    if session > 0:
        told.append(
            f"group.consumer.session.timeout.ms: {session}s   # from silence to being fenced"
        )
        told.append(f"group.consumer.min.session.timeout.ms: {min(45, session)}s")
        if session > MOST_SESSION_S:
            told.append(f"group.consumer.max.session.timeout.ms: {session}s")
    if beat:
        told.append(f"group.consumer.heartbeat.interval.ms: {beat}ms   # as answers came")
        told.append(f"group.consumer.min.heartbeat.interval.ms: {min(5000, beat)}ms")
    return ["cluster:", "  config:", *(f"    {line}" for line in told)] if told else []


def config_of(story: GroupStory) -> dict[str, str]:
    """The clients' settings, by Kafka's names."""
    if is_consumer_group(story):
        keys = [key for key in KEPT if key not in ("session.timeout.ms", "heartbeat.interval.ms")]
        found = {"group.protocol": "consumer", **_told(story, keys)}
    else:
        found = _told(story, KEPT)
        if "session.timeout.ms" not in found:
            guess = guessed_session_us(story, USUAL_MS * 1_000) // 1_000
            if guess > 0:
                guessed = f"{guess}   # ASK: no log tells; about so long it was silent"
                found["session.timeout.ms"] = guessed
        if "heartbeat.interval.ms" not in found and (beat := classic_beat_ms(story)):
            found["heartbeat.interval.ms"] = f"{beat}   # as answers came"
    if "max.poll.interval.ms" not in found and (limit := _poll_limit(story)):
        found["max.poll.interval.ms"] = limit
    if waited := _rebalance_limit(story):
        found["rebalance.timeout.ms"] = waited
    offered = _assignors(story)
    if offered and not is_consumer_group(story):
        found["partition.assignment.strategy"] = f"[{offered}]"
    return found


def _told(story: GroupStory, keys: Iterable[str]) -> dict[str, str]:
    """What most of the clients say of these settings."""
    found: dict[str, str] = {}
    for key in keys:
        told = Counter(v.settings[key] for v in story.voices if v.settings.get(key, "").isdigit())
        if told:
            found[key] = told.most_common(1)[0][0]
    return found


def _poll_limit(story: GroupStory) -> str:
    """max.poll.interval.ms by what a client says when it is over, by how long it was stuck at most, or by how long
    its group waited for it.
    """
    expired = [(v, f) for v in story.voices for f in v.facts if f.what == FactKind.POLL_EXPIRED]
    told = Counter(f.amount for _, f in expired if f.amount > 0)
    if told:
        return str(told.most_common(1)[0][0])
    stuck = [
        s.noticed_us - s.at_us
        for s in story.stops
        if s.how == StopKind.HUNG
        and any(v is s.voice and f.at_us == s.noticed_us for v, f in expired)
    ]
    if _ask_for(story, "max-poll"):
        stuck += _waited_in_vain(story)
    if not stuck:
        return ""
    return f"{min(stuck) // 1_000}   # ASK: no log tells; about so long it was stuck"


def _rebalance_limit(story: GroupStory) -> str:
    """rebalance.timeout.ms of clients that have one of their own, by how long a barrier waited in vain."""
    waited = _waited_in_vain(story) if _ask_for(story, "fixed") else []
    return f"{min(waited) // 1_000}   # so long the others waited in vain" if waited else ""


def _waited_in_vain(story: GroupStory) -> list[int]:
    """How long barriers were that fell without somebody."""
    return [
        r.joined_us - r.begin_us
        for r in story.rounds
        if r.late_how == "removed" and r.joined_us > r.begin_us
    ]


def _ask_for(story: GroupStory, what: str) -> bool:
    """Whether that is how long all of its clients ask a rebalance to wait for them; those that are not
    modelled are played as Java's.
    """
    clients = {dialect(v.dialect).client for v in story.voices}
    asked = [profile.habits for (name, _), profile in CLIENTS.items() if name in clients]
    asked = asked or [JAVA]
    return all(habits.rebalance_timeout == what for habits in asked)


def _assignors(story: GroupStory) -> str:
    told = Counter(
        v.settings["partition.assignment.strategy"]
        for v in story.voices
        if v.settings.get("partition.assignment.strategy")
    )
    if told:
        classes = re.findall(r"(\w+Assignor)", told.most_common(1)[0][0])
        known = [ASSIGNORS[c] for c in classes if c in ASSIGNORS]
        if known:
            return ", ".join(known)
    chosen = Counter(
        f.why for v in story.voices for f in v.facts if f.what == FactKind.JOINED and f.why
    )
    names = [ASSIGNORS.get(name, name) for name, _ in chosen.most_common(1)]
    names = [name for name in names if name in ASSIGNORS.values()]
    return names[0] if names else ""
