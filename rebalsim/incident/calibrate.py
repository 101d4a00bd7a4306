"""What logs measure, as settings of a scenario: an overlay with sample counts, and the answers to what a
scenario asks for. How well a simulation with these reproduces pauses that were held out stands with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rebalsim.domain.errors import RebalsimError
from rebalsim.incident.align import aligned
from rebalsim.incident.costs import AsMeasured
from rebalsim.incident.disturbance import last_us
from rebalsim.incident.lives import Life, lives_of
from rebalsim.incident.replay import Held, hold
from rebalsim.incident.took import waits_us
from rebalsim.words.lists import plural
from rebalsim.worlds.logs.facts import CALLS, FactKind
from rebalsim.worlds.logs.measured import (
    RECORDS_A_SECOND,
    Measured,
    beats_apart_ms,
    measure,
)
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.stops import Stop, StopKind

MANY = 5  # samples from which on their spread is told, too
FEW = 3  # samples below which a measurement is told, and no distribution drawn from it
_HOUR_US = 3_600_000_000
# what is measured, the setting that it is, and what it means
SETTINGS = (
    ("start", "life.start", "from a process's first line of Kafka's to its first JoinGroup"),
    ("batch", "handler.per_batch", "twice what a handler still needed when its group moved"),
    ("assignment", "assignor_cost.fixed", "from the barrier's end to the leader's assignment"),
)
# what no setting of a member is, and is told for whoever writes the script
TOLD = (
    ("down", "a process is gone for {}, from its close to its successor's first line"),
    ("restore", "Kafka Streams restored for {} before a thread ran again"),
)


@dataclass(slots=True)
class Calibration:
    """What was measured, and how it does on what was held out."""

    stories: list[GroupStory]
    measured: Measured
    hours: float  # member-hours that the logs tell of
    held_out: Held | None = None


def calibrate(stories: Sequence[GroupStory]) -> Calibration:
    """Measure all of it; then once more the first half alone, to be held against the second."""
    found = Calibration(list(stories), measured_in(stories), _member_hours(stories))
    playable = [s for s in stories if s.voices and s.pauses]
    if playable:
        found.held_out = _on_the_rest(max(playable, key=lambda s: len(s.pauses)))
    return found


def measured_in(stories: Sequence[GroupStory]) -> Measured:
    """What lines measure, and what passed before each listener's call."""
    found = measure(stories)
    for story in stories:
        for life in lives_of(story):
            for us in waits_us(life, FactKind.ASSIGNED, story.rounds):
                found.add("before_assigned", us)
    return found


def _on_the_rest(story: GroupStory) -> Held | None:
    """Measured on the first half of the pauses, judged on the second."""
    ended = sorted((p for p in story.pauses if p.end_us >= 0), key=lambda p: p.start_us)
    if len(ended) < 2:
        return None
    middle = ended[len(ended) // 2].start_us
    first = replace(story, rounds=[r for r in story.rounds if r.begin_us < middle])
    try:
        written = aligned(story, AsMeasured(measured_in([first])))
        return hold(written, [p for p in ended if p.start_us >= middle])
    except RebalsimError:
        return None


def _member_hours(stories: Sequence[GroupStory]) -> float:
    total = 0
    for story in stories:
        end = last_us(story)
        total += sum(end - v.facts[0].at_us for v in story.voices if v.facts)
    return total / _HOUR_US


def overlay(found: Calibration) -> str:
    """The overlay's text."""
    lines = [
        "# Measured by rebalsim calibrate. Put it under `replay:` beside the story's variants, or"
    ]
    lines.append("# take values one by one; behind each stands how many samples it rests on.")
    lines += [f"# {line}" for line in _held_out(found)]
    lines.append("calibrated:")
    body = [*_settings(found.measured), *_beats(found)]
    lines += body or ["  {}   # nothing was measured often enough"]
    latency = found.measured.at("round_trip", 0.1)
    if latency >= 0:
        count = len(found.measured.samples["round_trip"])
        lines += [
            "# of the whole story:",
            f"# cluster: {{latency: {_draw_us(latency // 2)}}}   # half of the quickest of {count} round trips",
        ]
    lines += [*_told(found.measured), *_faults(found)]
    return "\n".join(lines) + "\n"


def _held_out(found: Calibration) -> list[str]:
    held = found.held_out
    if held is None or not held.observed:
        return ["No pauses could be held out to be judged by."]
    return [
        f"Calibrated on the first half, {held.agreeing} of {held.observed} pauses of the second half "
        "replay within 10 %."
    ]


def _settings(measured: Measured) -> list[str]:
    """Each room with what was measured of it often enough."""
    rooms: dict[str, list[str]] = {}
    for name, key, why in SETTINGS:
        count = len(measured.samples.get(name, ()))
        if count >= FEW:
            room, _, last = key.partition(".")
            rooms.setdefault(room, [f"  {room}:"]).append(
                f"    {last}: {drawn(measured, name)}   # {why}: {count} samples"
            )
    for what in CALLS:
        if call := _call(measured, what):
            rooms.setdefault("listener", ["  listener:"]).append(call)
    return [line for lines in rooms.values() for line in lines]


def _call(measured: Measured, what: FactKind) -> str:
    """One of the listener's calls: what passed before it, and what it took."""
    parts, counts = [], []
    for name, key in ((f"before_{what}", "before"), (f"on_{what}", "fixed")):
        count = len(measured.samples.get(name, ()))
        if count < FEW or measured.at(name, 0.5) <= 0:
            continue
        told = drawn(measured, name)
        if name == "on_assigned":  # what follows waits for offsets, too: the quickest tell the cost
            told = _draw_us(measured.at(name, 0.1))
        parts.append(f"{key}: {told}")
        counts.append(str(count))
    if not parts:
        return ""
    return f"    on_{what}: {{{', '.join(parts)}}}   # {' and '.join(counts)} samples"


def _told(measured: Measured) -> list[str]:
    """What was measured, and is nobody's setting."""
    lines = [
        f"# {why.format(drawn(measured, name))}: {count} samples"
        for name, why in TOLD
        if (count := len(measured.samples.get(name, ())))
    ]
    if rates := measured.samples.get(RECORDS_A_SECOND):
        middle, low = measured.at(RECORDS_A_SECOND, 0.5), min(rates)
        spread = f" ({low:,} the slowest)" if low < middle else ""
        lines.append(
            f"# it restored {middle:,} records a second{spread}: {plural(len(rates), 'sample')}; times a "
            "record's bytes that is `restore`"
        )
    return lines


def drawn(measured: Measured, name: str) -> str:
    """A distribution as the language writes it; a constant where all samples are about alike, or so few
    that the greatest is no 99th percentile.
    """
    middle, high = measured.at(name, 0.5), measured.at(name, 0.99)
    if middle <= 0 or high <= middle * 1.2 or len(measured.samples[name]) < MANY:
        return _draw_us(middle)
    return f"{{median: {_draw_us(middle)}, p99: {_draw_us(high)}}}"


def _draw_us(us: int) -> str:
    return f"{us // 1_000}ms" if us >= 10_000 else f"{max(us, 0)}us"


def _beats(found: Calibration) -> list[str]:
    apart = [ms for s in found.stories if (ms := beats_apart_ms(s))]
    if not apart:
        return []
    return [f"  config: {{heartbeat.interval.ms: {apart[0]}}}   # so far apart beats really came"]


def _struck(found: Calibration) -> dict[str, list[int]]:
    """How long each fault lasted, as far as logs tell: silences until the process spoke again, cuts to
    the coordinator's being found again.
    """
    kinds = {"freeze": StopKind.FROZEN, "crash": StopKind.KILLED, "hang": StopKind.HUNG}
    struck: dict[str, list[int]] = {kind: [] for kind in kinds}
    for story in found.stories:
        lives = lives_of(story)
        for kind, how in kinds.items():
            stops = (stop for stop in story.stops if stop.how == how)
            struck[kind] += [_lasted_us(stop, kind, lives) for stop in stops]
    return {**struck, "cut": list(found.measured.samples.get("cut", ()))}


def _lasted_us(stop: Stop, kind: str, lives: Sequence[Life]) -> int:
    """Until its process spoke again; where it never did, until its group knew."""
    mine = (blow for life in lives if life.voice is stop.voice for blow in life.blows)
    back = (b.for_us for b in mine if b.what == kind and b.at_us <= stop.noticed_us <= b.end_us)
    return next(back, max(0, stop.noticed_us - stop.at_us))


def _faults(found: Calibration) -> list[str]:
    """Silences and crashes with their rates, as the language's random faults."""
    lines = []
    for kind, lasted in _struck(found).items():
        if lasted and found.hours > 0:
            every = max(1, round(found.hours * 3_600 / len(lasted)))
            lasts = (
                f", for: {_draw_us(sorted(lasted)[len(lasted) // 2])}" if kind != "crash" else ""
            )
            lines.append(
                f"#   - {{kind: {kind}, about_every: {every}s{lasts}}}"
                f"   # {len(lasted)} in {found.hours:.2f} member-hours"
            )
    return ["# random_faults:", *lines] if lines else []
