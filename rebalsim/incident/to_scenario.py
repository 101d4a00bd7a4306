"""An observed group as a scenario: its members with the settings that their logs show, and what befell
them, at the moments at which it did. Ready to keep as a regression.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.incident.disturbance import last_us
from rebalsim.incident.lives import BEFORE_JOIN_US, Blow, Life, client_id_of, lives_of
from rebalsim.scenario.profiles import CLIENTS
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.measured import Measured, beat_ms, beats_apart_ms
from rebalsim.worlds.logs.observation import GroupStory

KEPT = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.max.age.ms",
    "auto.commit.interval.ms",
)
ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
RATE = "10/s/partition"
BEFORE_US, AFTER_US = 1_000_000, 5_000_000
PLAYED = frozenset(client for client, _ in CLIENTS)
_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(slots=True)
class Written:
    """A scenario's text, and which instant of the logs is its second nought."""

    text: str
    zero_us: int
    lives: list[Life]


def to_scenario(
    story: GroupStory, measured: Measured | None = None, shifts: dict[str, int] | None = None
) -> Written:
    """The story's YAML. `shifts`: by how much each life must be started otherwise, so that it joins
    when it did.
    """
    lives = lives_of(story)
    zero = min((x.begin_us for x in lives), default=last_us(story)) - BEFORE_US
    end = last_us(story) - zero + AFTER_US
    lines = [
        "# Written by rebalsim from logs. What says ASK is assumed: no log tells it.",
        f"title: {_quoted('What befell ' + story.name)}",
    ]
    version = _kafka(story)
    if version:
        lines.append(f'kafka: "{version}"')
    lines += _cluster(story)
    lines += ["topics:", *_topics(story), "groups:", f"  {_quoted(story.name)}:"]
    lines += _shared(story, lives, measured)
    lines += ["    members:"]
    script: list[tuple[int, str]] = []
    there: set[str] = set()  # instances that the members have already
    for life in lives:
        at = life.begin_us - zero - BEFORE_JOIN_US + (shifts or {}).get(life.name, 0)
        fields = _fields(life, story)
        if life.voice.instance and life.voice.instance in there:
            named = f"join: {{names: [{_quoted(life.name)}], {', '.join(fields)}}}"
            script.append((at, f"  - {{at: {_ms(at)}, {named}}}"))
        else:
            there.add(life.voice.instance)
            told = ", ".join([f"name: {_quoted(life.name)}", f"starts_at: {_ms(at)}", *fields])
            lines.append(f"      - {{{told}}}")
        for b in life.blows:
            moved = (shifts or {}).get(f"{life.name} leaves", 0) if b.what == "leave" else 0
            script.append((b.at_us - zero + moved, _blow(b, life, zero - moved)))
    if script:
        lines += ["script:", *(line for _, line in sorted(script))]
    lines += [
        "start: cold",
        "replay: [as-written]",
        "heartbeat_phase: as-written",
        f"horizon: {_ms(end)}",
    ]
    return Written("\n".join(lines) + "\n", zero, lives)


def _kafka(story: GroupStory) -> str:
    """The version that a client tells of itself, as far as it is played."""
    told = Counter(f.why for v in story.voices for f in v.facts if f.what == "version")
    if not told:
        return ""
    parts = told.most_common(1)[0][0].split(".")
    return ".".join(parts[:2]) if len(parts) >= 2 and all(p.isdigit() for p in parts[:2]) else ""


def _cluster(story: GroupStory) -> list[str]:
    """What the brokers' settings for consumer groups must have been."""
    if not _is_new(story):
        return []
    sessions = [s.noticed_us - s.at_us for s in story.stops if s.how in ("killed", "frozen")]
    beat = beat_ms(story)
    told = []
    if sessions:
        session = max(6, round(min(sessions) / 1e6))
        told.append(
            f"group.consumer.session.timeout.ms: {session}s   # from silence to being fenced"
        )
        told.append(f"group.consumer.min.session.timeout.ms: {min(45, session)}s")
    if beat:
        told.append(f"group.consumer.heartbeat.interval.ms: {beat}ms   # as answers came")
        told.append(f"group.consumer.min.heartbeat.interval.ms: {min(5000, beat)}ms")
    return ["cluster:", "  config:", *(f"    {line}" for line in told)] if told else []


def _is_new(story: GroupStory) -> bool:
    return any(r.is_epoch for r in story.rounds)


def _topics(story: GroupStory) -> list[str]:
    found: dict[str, int] = {}
    for v in story.voices:
        for f in v.facts:
            for name in f.partitions if f.what in ("assigned", "revoked", "lost") else ():
                topic, _, number = name.rpartition("-")
                if topic and number.isdigit():
                    found[topic] = max(found.get(topic, 0), int(number) + 1)
    return [
        f"  {_quoted(topic)}: {{partitions: {count}, rate: {RATE}}}   # ASK: the rate"
        for topic, count in sorted(found.items())
    ]


def _shared(story: GroupStory, lives: Sequence[Life], measured: Measured | None) -> list[str]:
    """What all members have alike."""
    lines = ["    life: {start: 0s, stop: 0s}   # the script has the moments themselves"]
    lines.append("    handler: 1ms   # ASK: what a record costs")
    if measured is not None:
        lines += measured.listener_lines("    ")
        if (cost := measured.at("assignment", 0.5)) >= 2_000 and not _is_new(story):
            count = len(measured.samples["assignment"])
            lines.append(
                f"    assignor_cost: {{fixed: {cost // 1_000}ms}}   # the middle of {count} rebalances"
            )
    client = Counter(dialect(v.dialect).client for v in story.voices).most_common(1)
    if client and client[0][0] in PLAYED:
        lines.append(f"    client: {client[0][0]}")
    config = _config(story)
    if config:
        lines.append("    config:")
        lines += [f"      {key}: {value}" for key, value in config.items()]
    return lines


def _config(story: GroupStory) -> dict[str, str]:
    found: dict[str, str] = {}
    if _is_new(story):
        found["group.protocol"] = "consumer"
    for key in KEPT:
        if _is_new(story) and key in ("session.timeout.ms", "heartbeat.interval.ms"):
            continue
        told = Counter(v.settings[key] for v in story.voices if v.settings.get(key, "").isdigit())
        if told:
            found[key] = told.most_common(1)[0][0]
    if "session.timeout.ms" not in found and not _is_new(story):
        silent = [s.noticed_us - s.at_us for s in story.stops if s.how in ("killed", "frozen")]
        if silent:
            guess = max(6_000, min(silent) // 1_000)
            found["session.timeout.ms"] = f"{guess}   # ASK: no log tells; so long it was silent"
    apart = beats_apart_ms(story)
    if "heartbeat.interval.ms" in found and apart:
        found["heartbeat.interval.ms"] = (
            f"{apart}   # {found['heartbeat.interval.ms']} as set; so far apart they came"
        )
    offered = _assignors(story)
    if offered and not _is_new(story):
        found["partition.assignment.strategy"] = f"[{offered}]"
    return found


def _assignors(story: GroupStory) -> str:
    told = Counter(
        v.settings["partition.assignment.strategy"]
        for v in story.voices
        if v.settings.get("partition.assignment.strategy")
    )
    if told:
        classes = re.findall(r"(\w+Assignor)", told.most_common(1)[0][0])
        known = [ASSIGNORS[c] for c in classes if c in ASSIGNORS]
        return ", ".join(known)
    chosen = Counter(f.why for v in story.voices for f in v.facts if f.what == "joined" and f.why)
    names = [name for name, _ in chosen.most_common(1) if name in ASSIGNORS.values()]
    return names[0] if names else ""


def _fields(life: Life, story: GroupStory) -> list[str]:
    """Its own settings: its instance, or the beginning of its member id, by which assignors go."""
    if life.voice.instance:
        return [f"group.instance.id: {_quoted(life.voice.instance)}"]
    if not _is_new(story) and (client := client_id_of(life)):
        return [f"config: {{client.id: {_quoted(client)}}}"]
    return []


def _blow(blow: Blow, life: Life, zero: int) -> str:
    what = f"{blow.what}: {_quoted(life.name)}"
    if blow.what in ("freeze", "hang"):
        length = _ms(max(1_000, blow.for_us))
        what = f"{blow.what}: {{members: {_quoted(life.name)}, for: {length}}}"
    return f"  - {{at: {_ms(blow.at_us - zero)}, {what}}}"


def _ms(us: int) -> str:
    return f"{max(0, us // 1_000)}ms"


def _quoted(text: str) -> str:
    """A name that YAML takes for a text, whatever it is."""
    if _PLAIN.fullmatch(text) and text.lower() not in (
        "true",
        "false",
        "null",
        "yes",
        "no",
        "on",
        "off",
    ):
        return text
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'
