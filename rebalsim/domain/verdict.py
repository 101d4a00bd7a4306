"""What judging says: what a budget's metric came to in one run, and how the budget came out over
all runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rebalsim.domain.open_end import OpenEnd


class Outcome(StrEnum):
    """How a budget or a fact came out, as results and reports write it."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # a longer observation could still break it


class Ending(StrEnum):
    """How a check of stories ends, from well to ill."""

    PASS = "pass"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"
    INVALID = "invalid"  # a story could not be read or played
    BUG = "bug"  # in rebalsim


GRAVITY = (Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL)  # from well to ill


@dataclass(frozen=True, slots=True)
class Measured:
    """One run, asked one question. Values are in the metric's base unit; of a fact 1 means that
    it holds, 0 that it does not.
    """

    value: float | None
    open_pauses: int = 0  # pauses that had not ended at the horizon; the value counts them so far
    is_unsettled: bool = False  # a disturbance that had not ended at the horizon
    problem: str = ""  # why the question makes no sense in this run: never a silent pass
    said: str = ""  # of a fact: what was the case instead
    because: str = ""  # the pause that spent it, as a sentence
    hint: str = ""  # what would have helped
    pending: tuple[OpenEnd, ...] = ()  # what a longer observation could still change it by
    # why nothing was measured (nobody ever owned what the budget speaks of): never kept
    unowned: OpenEnd | None = None
    sway: float = 0.0  # how far it may move while nothing happens, where the limit is relative


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """One run against one limit. `excess` is how far beyond the limit it went, negative where
    within: what seeds are ranked by.
    """

    outcome: Outcome
    observed: float | None
    limit: float | None
    excess: float = 0.0
    measured: Measured = Measured(None)
    seed: int = 0

    @property
    def headroom(self) -> float | None:
        """The share of the limit that was left; negative: how far it was exceeded. None where
        there is no limit to share.
        """
        return -self.excess / abs(self.limit) if self.limit and self.observed is not None else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A budget over its seeds: the run that decided it (the worst one, or the one at the
    budget's percentile), and how many fared how.
    """

    deciding: RunVerdict
    runs: int = 1
    broken: int = 0  # runs that exceeded the limit
    undecided: int = 0
    problem: str = ""

    @property
    def outcome(self) -> Outcome:
        return self.deciding.outcome
