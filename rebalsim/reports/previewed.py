"""What a preview is told with: plain values. Nothing here plays, reads or judges."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalsim.reports.check_report import Checked, CheckReport, StoryChecked


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that differs between the two and bears on consumption."""

    of: str  # the workload or group
    what: str
    before: str
    after: str
    where: str = ""
    note: str = ""  # what it means, where that is no matter of figures


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric in the four runs: the deploy; a restart before and after it; a crash likewise."""

    metric: str
    deploy: str
    restart_before: str
    restart_after: str
    crash_before: str
    crash_after: str


@dataclass(frozen=True, slots=True)
class Previewed:
    """What a change will do to consumption."""

    title: str
    old: str  # what was compared: paths, revisions; empty for a restart as it stands
    new: str
    differences: tuple[Difference, ...] = ()
    rollouts: tuple[str, ...] = ()  # how each workload is rolled, in a sentence
    worst: tuple[str, ...] = ()  # the longest pauses, a sentence each
    figures: tuple[Figure, ...] = ()
    checked: tuple[Checked, ...] = ()
    advice: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()  # what is not known, and what it was taken for
    hurts: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  # what Kafka would refuse
    notes: tuple[str, ...] = ()
    unsettled: bool = False
    longest: str = ""
    rebalances: int = 0
    catch_up: str = ""
    page: str = field(default="", compare=False)
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """One line: what it does."""
        if self.refused:
            return f"Kafka refuses this change: {self.refused[0]}"
        if not self.longest:
            return "Nothing restarts, and nothing stands still."
        times = f"{self.rebalances} rebalance{'s' if self.rebalances != 1 else ''}"
        caught = f", caught up {self.catch_up} later" if self.catch_up else ""
        return f"The longest pause of a partition is {self.longest}, in {times}{caught}."

    def as_check(self, version: str) -> CheckReport:
        """The same verdicts as a check's, for JUnit and exit codes."""
        story = StoryChecked(
            self.new,
            self.title,
            self.checked,
            has_budgets=bool(self.checked),
            runs=1,
            seconds=self.seconds,
        )
        return CheckReport((story,), version, seconds=self.seconds)
