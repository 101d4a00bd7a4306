"""The scenario played, and its pauses held against those that were observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.scenario import Scenario
from rebalsim.incident.as_logged import pauses_as_logged
from rebalsim.incident.lives import TAKEN_IN_US
from rebalsim.incident.to_scenario import Written
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story
from rebalsim.worlds.logs.coarse_times import is_coarse
from rebalsim.worlds.logs.pauses import Pause

LEAST_US = 100_000  # shorter ones are a matter of milliseconds anywhere
SHARE = 0.1
ENOUGH = 0.8  # below this the replay is not believed, and nothing is advised


@dataclass(slots=True)
class Held:
    """How well the replay agrees: so many of the observed pauses have one of about their length."""

    observed: int = 0
    agreeing: int = 0
    misses: list[str] = field(default_factory=list)
    analysis: Any = None

    @property
    def is_believed(self) -> bool:
        """Whether the replay is like enough to draw conclusions from."""
        return self.observed > 0 and self.agreeing >= ENOUGH * self.observed

    def told(self) -> str:
        """One line."""
        return f"replayed: {self.agreeing} of {self.observed} pauses within 10 % (or 0.1 s)"


def story_in(text: str) -> Story:
    """The story that the text is. Raises ProblemsError where it is none."""
    return story_of(text.encode(), "incident.yaml").check()


def scenario_in(text: str) -> Scenario:
    """Its only variant."""
    return story_in(text).scenario("as-written")


def hold(written: Written, pauses: Sequence[Pause]) -> Held:
    """Play the scenario as it is written, and compare: each observed pause with one of the replay's
    that falls into the same time. Which partition it was hangs on members' ids, which are random.
    """
    analysis = run_once(scenario_in(written.text)).analysis
    zero = written.zero_us
    told = pauses_as_logged(analysis.trace.events, written.group)
    horizon = analysis.trace.header.horizon_us
    played = [
        (p.start_us + zero, (p.end_us if p.end_us >= 0 else horizon) + zero, p.partition)
        for p in told
    ]
    held = Held(analysis=analysis)
    # where nobody whose log is at hand took a partition up, no log tells until when it stood still
    known = [p for p in pauses if p.end_us >= 0 and p.to is not None]
    judged = [p for p in known if p.end_us - p.start_us >= LEAST_US]
    for pause in sorted(judged, key=lambda p: p.start_us - p.end_us):
        held.observed += 1
        best = _best(pause, played)
        length = pause.end_us - pause.start_us
        if best is not None and _is_like(pause, best):
            played.remove(best)
            held.agreeing += 1
        else:
            other = (best[1] - best[0]) / 1e6 if best is not None else 0
            held.misses.append(f"{pause.partition}: {length / 1e6:.2f} s, replayed {other:.2f} s")
    return held


def _is_like(pause: Pause, other: tuple[int, int, str]) -> bool:
    length = pause.end_us - pause.start_us
    apart = abs(other[1] - other[0] - length)
    return apart <= max(SHARE * length, LEAST_US) + _coarse_us(pause)


def _coarse_us(pause: Pause) -> int:
    """What a log of whole seconds leaves open: half of one at either end."""
    ends = [voice for voice in (pause.owner, pause.to) if voice is not None and is_coarse(voice)]
    return sum(voice.stream.step_us // 2 for voice in ends)


def _best(pause: Pause, played: Sequence[tuple[int, int, str]]) -> tuple[int, int, str] | None:
    """The replay's pause that is most like it, among those that share time with it."""
    near = []
    for other in played:
        shared = min(other[1], pause.end_us) - max(other[0], pause.start_us)
        if shared > -LEAST_US * 5:
            near.append((_is_like(pause, other), other[2] == pause.partition, shared, other))
    return max(near, key=lambda x: x[:3])[3] if near else None


def shifts_of(written: Written, analysis: Any) -> dict[str, int]:
    """By how much each life must be started otherwise, so that the request that brings it in
    leaves when it did.
    """
    from rebalsim.trace import events as ev

    first: dict[str, int] = {}
    joined: set[str] = set()
    for e in analysis.trace.events:
        if type(e) is ev.GenerationJoined:
            joined.add(e.consumer)
        elif type(e) is ev.RequestSent and e.api == KafkaApi.JOIN and e.consumer not in joined:
            first[e.consumer] = e.at_us
        elif type(e) is ev.EpochBumped and e.consumer:
            first.setdefault(e.consumer, e.at_us - TAKEN_IN_US)
    return {
        life.name: life.joins_us - written.zero_us - first[life.name]
        for life in written.lives
        if life.name in first
    }
