"""What members' calls and the leader's assignments cost in a scenario: one after another as they were
observed, or as a measurement of other times says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rebalsim.incident.lives import Life
from rebalsim.incident.took import assignments_us, in_turn, revocations_us, waits_us
from rebalsim.worlds.logs.facts import CALLS, FactKind
from rebalsim.worlds.logs.measured import NOTICEABLE_US, Measured, measure
from rebalsim.worlds.logs.observation import GroupStory

# what follows an assigned callback waits for offsets, too: the quickest ones tell the cost
SHARES = {FactKind.REVOKED: 0.5, FactKind.ASSIGNED: 0.1, FactKind.LOST: 0.5}


class Costs(Protocol):
    """As the language writes them; empty where they are not worth a word."""

    def assignment(self) -> str:
        """The group's assignments."""

    def call(self, life: Life, what: FactKind) -> str:
        """A listener's calls of one kind."""

    def before(self, life: Life, what: FactKind) -> str:
        """What passes before them."""


@dataclass(slots=True)
class AsObserved:
    """Each as it came: to play again what was."""

    story: GroupStory
    usual: AsMeasured

    @classmethod
    def of(cls, story: GroupStory) -> AsObserved:
        """What these logs tell."""
        return cls(story, AsMeasured(measure([story])))

    def assignment(self) -> str:
        return in_turn(assignments_us(self.story))

    def call(self, life: Life, what: FactKind) -> str:
        if what == FactKind.REVOKED:
            return in_turn(revocations_us(life, self.story.rounds))
        return self.usual.call(life, what)

    def before(self, life: Life, what: FactKind) -> str:
        return in_turn(waits_us(life, what, self.story.rounds)) if what != FactKind.LOST else ""


@dataclass(slots=True)
class AsMeasured:
    """The usual of each: to play what is not known yet."""

    measured: Measured

    def assignment(self) -> str:
        cost = self.measured.at("assignment", 0.5)
        return f"{cost // 1_000}ms" if cost >= 2_000 else ""

    def call(self, life: Life, what: FactKind) -> str:
        usual = self.measured.at(f"on_{what}", SHARES[what])
        return f"{usual // 1_000}ms" if usual >= NOTICEABLE_US else ""

    def before(self, life: Life, what: FactKind) -> str:
        usual = self.measured.at(f"before_{what}", 0.5)
        return f"{usual // 1_000}ms" if usual >= NOTICEABLE_US // 10 else ""


def listener_of(costs: Costs, life: Life) -> list[str]:
    """The listener's fields of one member."""
    lines = []
    for what in CALLS:
        before, cost = costs.before(life, what), costs.call(life, what)
        parts = [f"before: {before}"] if before else []
        parts += [f"fixed: {cost}"] if cost else []
        if parts:
            lines.append(f"on_{what}: {{{', '.join(parts)}}}")
    return lines
