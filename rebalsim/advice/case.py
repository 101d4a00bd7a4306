"""What a proposal starts from: the story, one variant of it as it was played, and the pause (or
the metric of a budget) that something shall be done about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.values import Pause, Phase
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.doing import Doing
from rebalsim.domain.instants import SECOND
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.remedy import Patch, Symptom, Turn
from rebalsim.domain.scenario import Scenario, everybody_in
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.story import Story

OF_BROKERS = {  # under the consumer protocol these are the brokers', within bounds of their own
    "session.timeout.ms": "group.consumer.session.timeout.ms",
    "heartbeat.interval.ms": "group.consumer.heartbeat.interval.ms",
}
NICE_S = (1, 2, 3, 5, 6, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1800)


@dataclass(frozen=True)
class Case:
    """One thing to do something about."""

    story: Story
    variant: str
    scenario: Scenario
    analysis: Analysis
    pause: Pause | None = None
    metric: str = "longest_pause"  # what shall become less

    @cached_property
    def phase(self) -> Phase | None:
        """The longest phase of the pause."""
        if self.pause is None:
            return None
        return max(self.pause.phases, key=lambda phase: phase.length_us, default=None)

    @property
    def action(self) -> str:
        """The script's action that set the pause off, where it was one."""
        return self.pause.cause.action if self.pause is not None else ""

    @cached_property
    def people(self) -> dict[str, Consumer]:
        """Every consumer of the story, by name."""
        return {c.name: c for c in everybody_in(self.scenario)}

    @cached_property
    def blamed(self) -> Consumer | None:
        """Whose settings decide: whom the longest phase waits for, else who had the partition."""
        if self.pause is None or self.phase is None:
            return next(iter(self.people.values()), None)
        p = self.pause
        names = (self.phase.facts.consumer, p.cause.consumer, p.owner_before, p.owner_after)
        return next((self.people[name] for name in names if name in self.people), None)

    def in_pause(self, *kinds: PhaseKind) -> Iterator[Phase]:
        """The phases of these kinds that are a tenth of the pause or more."""
        if self.pause is not None:
            for phase in self.pause.phases:
                if phase.kind in kinds and 10 * phase.length_us >= self.pause.length_us:
                    yield phase

    # ------------------------------------------------------------------------------- what to write

    def setting(self, consumer: Consumer, key: str, value: str) -> Patch | None:
        """The patch that gives the consumer's whole group this value of a Kafka setting; None
        where it has it already.
        """
        field = field_of(key)
        if key in OF_BROKERS and consumer.config.uses_consumer_protocol:
            return self.brokers(OF_BROKERS[key], value)
        worker = consumer.worker
        now = getattr(worker if hasattr(worker, field) else consumer.config, field)
        before = say_us(now) if key.endswith(".ms") else str(now)
        if before == value:
            return None
        return Patch(
            (Turn(key, before, value),), ((f"{self._group_path(consumer)}.config.{key}", value),)
        )

    def brokers(self, key: str, value: str) -> Patch | None:
        """The same of a setting of the brokers; their lower bound follows."""
        config = self.scenario.cluster.config
        now, wanted = getattr(config, field_of(key)), us_of(value)
        if now == wanted:
            return None
        sets = [(f"cluster.config.{key}", value)]
        turns = [Turn(key, say_us(now) if now else "0s", value)]
        least = key.replace("group.consumer.", "group.consumer.min.")
        bound = getattr(config, field_of(least), 0)
        if wanted < bound:
            sets.insert(0, (f"cluster.config.{least}", value))
            turns.append(Turn(least, say_us(bound), value))
        return Patch(tuple(turns), tuple(sets))

    def group_key(
        self, consumer: Consumer, key: str, before: str, value: str, said: str = ""
    ) -> Patch:
        """A key of the group's block that is no Kafka setting, such as `handler.commit`. `said`: what
        it is called, where that is shorter.
        """
        turn = Turn(said or key, before, value)
        return Patch((turn,), ((f"{self._group_path(consumer)}.{key}", value),))

    def _group_path(self, consumer: Consumer) -> str:
        if consumer.worker is not None:
            return "connect"
        return f"groups.{consumer.group}" if "groups" in self.story.written else "group"

    def in_script(
        self, line: int, key: str, before: str, value: str, said: str = ""
    ) -> Patch | None:
        """A patch of the script's action that stands on this line; None where there is none that has
        keys. `said`: what is done otherwise then.
        """
        for place, written in enumerate(self.story.written.get("script", ())):
            deed = next((k for k, v in written.values.items() if isinstance(v, Written)), None)
            if written.node.line == line and deed is not None:
                path = f"script.{place}.{deed}.{key}"
                return Patch((Turn(key, before, value),), ((path, value),), script=said)
        return None


# Something to do something about: the case, what is told of it, and the metrics of which one at
# least shall become less.
Asked = tuple[Case, Symptom, tuple[str, ...]]


def field_of(key: str) -> str:
    """Kafka's key as the resolved settings call it."""
    return key.replace(".", "_").removesuffix("_ms") + ("_us" if key.endswith(".ms") else "")


def us_of(value: str) -> int:
    from rebalsim.scenario.quantities import duration

    return round(duration(value) or 0)


def nice_above(us: float) -> int:
    """The least usual duration that is no shorter."""
    return next((s * SECOND for s in NICE_S if s * SECOND >= us), round(us))


def both(*patches: Patch | None) -> Patch | None:
    """Several patches as one; None where any of them is missing."""
    found = [p for p in patches if p is not None]
    if len(found) < len(patches):
        return None
    return Patch(
        tuple(turn for p in found for turn in p.turns), tuple(s for p in found for s in p.sets)
    )


def restart_us(case: Case) -> int:
    """The longest that any process of this run was away, or starting, and came back."""
    return max((away_us(case, m.consumer) for m in case.analysis.members), default=0)


def away_us(case: Case, consumer: str) -> int:
    """The same of one consumer; 0 if it never was, and came back."""
    longest = 0
    for member in case.analysis.members:
        if member.consumer != consumer:
            continue
        gone_us = -1
        for span in member.spans:
            if span.what in (Doing.AWAY, Doing.STARTING):
                gone_us = span.started_us if gone_us < 0 else gone_us
            elif gone_us >= 0:
                longest = max(longest, span.started_us - gone_us) if gone_us > 0 else longest
                gone_us = -1
    return longest
