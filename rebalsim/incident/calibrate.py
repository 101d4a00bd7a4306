"""What logs measure, as settings of a scenario: an overlay with sample counts, and the answers to what a
scenario asks for. How well a simulation with these reproduces pauses that were held out stands with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rebalsim.domain.errors import RebalsimError
from rebalsim.incident.align import aligned
from rebalsim.incident.costs import AsMeasured
from rebalsim.incident.disturbance import last_us
from rebalsim.incident.replay import Held, hold
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.measured import Measured, beats_apart_ms, measure
from rebalsim.worlds.logs.observation import GroupStory

CONSTANT = ("assignment", "on_revoked", "on_lost")  # of which the language takes the middle
FEW = 3  # samples below which a measurement is told, and no distribution drawn from it
_HOUR_US = 3_600_000_000
_ASK = re.compile(r"^(?P<head>\s*(?P<key>[\w.]+):\s*)(?P<value>.*?)(?P<pad>\s+)# ASK:.*$")
# what is measured, the setting that it is, and what it means
SETTINGS = (
    ("start", "life.start", "from a process's first line of Kafka's to its first JoinGroup"),
    ("on_revoked", "listener.on_revoked", "what onPartitionsRevoked took"),
    ("on_lost", "listener.on_lost", "what onPartitionsLost took"),
    ("assignment", "assignor_cost.fixed", "from the barrier's end to the leader's assignment"),
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
    found = Calibration(list(stories), measure(stories), _member_hours(stories))
    playable = [s for s in stories if s.voices and s.pauses]
    if playable:
        found.held_out = _on_the_rest(max(playable, key=lambda s: len(s.pauses)))
    return found


def _on_the_rest(story: GroupStory) -> Held | None:
    """Measured on the first half of the pauses, judged on the second."""
    ended = sorted((p for p in story.pauses if p.end_us >= 0), key=lambda p: p.start_us)
    if len(ended) < 2:
        return None
    middle = ended[len(ended) // 2].start_us
    first = replace(story, rounds=[r for r in story.rounds if r.begin_us < middle])
    try:
        written = aligned(story, AsMeasured(measure([first])))
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
    lines += _faults(found)
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
    return [line for lines in rooms.values() for line in lines]


def drawn(measured: Measured, name: str) -> str:
    """A distribution as the language writes it; a constant where all samples are about alike."""
    middle, high = measured.at(name, 0.5), measured.at(name, 0.99)
    if name in CONSTANT or high <= middle * 1.2:
        return _draw_us(middle)
    return f"{{median: {_draw_us(middle)}, p99: {_draw_us(high)}}}"


def _draw_us(us: int) -> str:
    return f"{us // 1_000}ms" if us >= 10_000 else f"{max(us, 0)}us"


def _beats(found: Calibration) -> list[str]:
    apart = [ms for s in found.stories if (ms := beats_apart_ms(s))]
    if not apart:
        return []
    return [f"  config: {{heartbeat.interval.ms: {apart[0]}}}   # so far apart beats really came"]


def _faults(found: Calibration) -> list[str]:
    """Silences and crashes with their rates, as the language's random faults."""
    lines = []
    for how, kind in (("frozen", "freeze"), ("killed", "crash"), ("hung", "hang")):
        stops = [s for story in found.stories for s in story.stops if s.how == how]
        if not stops or found.hours <= 0:
            continue
        every = found.hours * 3_600 / len(stops)
        lasts = sorted(max(0, s.noticed_us - s.at_us) for s in stops)[len(stops) // 2]
        lines.append(
            f"#   - {{kind: {kind}, about_every: {max(1, round(every))}s, for: {_draw_us(lasts)}}}"
            f"   # {len(stops)} in {found.hours:.2f} member-hours"
        )
    return ["# random_faults:", *lines] if lines else []


# ------------------------------------------------------------------- what a scenario asks for


def answered(text: str, found: Calibration) -> tuple[str, list[str]]:
    """A scenario with its `# ASK:`s answered as far as the logs do, and which were."""
    answers = _answers(found)
    lines, told = [], []
    topic = ""
    for line in text.splitlines():
        named = re.match(r"^  ([\w.\"-]+):\s*(?:#.*)?$", line)
        topic = named[1].strip('"') if named is not None else topic
        ask = _ASK.match(line)
        key = ask["key"] if ask is not None else ""
        answer = answers.get(f"{key} {topic}") or answers.get(key)
        if ask is not None and answer is not None:
            value, why = answer
            line = f"{ask['head']}{value}{ask['pad']}# measured: {why}"
            told.append(f"{key}: {value} ({why})")
        lines.append(line)
    return "\n".join(lines) + "\n", told


def _answers(found: Calibration) -> dict[str, tuple[str, str]]:
    answers: dict[str, tuple[str, str]] = {}
    count = len(found.measured.samples.get("start", ()))
    if count:
        answers["start"] = (drawn(found.measured, "start"), f"{count} starts in the logs")
    clients = Counter(dialect(v.dialect).client for s in found.stories for v in s.voices)
    if clients:
        name, often = clients.most_common(1)[0]
        answers["client"] = (name, f"{often} consumers in the logs")
    versions = Counter(
        f.why for s in found.stories for v in s.voices for f in v.facts if f.what == "version"
    )
    if versions:
        answers["client_version"] = (f'"{versions.most_common(1)[0][0]}"', "as the logs say")
    for topic, number in _partitions(found).items():
        answers[f"partitions {topic}"] = (str(number), "the highest number in the logs, and one")
    return answers


def _partitions(found: Calibration) -> dict[str, int]:
    highest: dict[str, int] = {}
    for story in found.stories:
        for v in story.voices:
            for f in v.facts:
                for name in f.partitions if f.what in ("assigned", "revoked") else ():
                    topic, _, number = name.rpartition("-")
                    if number.isdigit():
                        highest[topic] = max(highest.get(topic, 0), int(number) + 1)
    return highest
