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
    """A metric in the deploy, and of a usual day before and after it: in its restart and its crash."""

    metric: str
    deploy: str
    restart_before: str
    restart_after: str
    crash_before: str
    crash_after: str


def budget_told(checked: Checked) -> str:
    """What a budget came to; over several runs it is judged by the worst of them."""
    if checked.runs == 1 or not checked.said:
        return checked.said
    broken = f"; {checked.broken} of them break it" if checked.broken else ""
    return f"{checked.said}, the worst of {checked.runs} runs{broken}"


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
    longest: str = ""  # as the table says it, and like all figures the middle one of the runs
    at_worst: str = ""  # in the worst of the runs, where that reads otherwise
    of: str = "partition"  # whose pause is told first: a partition's, or a task's of Connect
    rebalances: str = ""
    catch_up: str = ""
    runs: int = 1  # of the deploy
    fewest_runs: int = 1  # of the stories in the table …
    most_runs: int = 1  # … of which a long one is played less often
    page: str = field(default="", compare=False)
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """One line: what it does."""
        if self.refused:
            return f"Kafka refuses this change: {self.refused[0]}"
        if not self.longest:
            return "Nothing restarts, and nothing stands still."
        times = f"{self.rebalances or 'no'} rebalance{'s' if self.rebalances != '1' else ''}"
        times += " of the workers" if self.of == "task" else ""
        worst = f" ({self.at_worst} in the worst of {self.runs} runs)" if self.at_worst else ""
        caught = f", caught up {self.catch_up} later" if self.catch_up else ""
        return f"The longest pause of a {self.of} is {self.longest}{worst}, in {times}{caught}."

    @property
    def caption(self) -> str:
        """What the table's figures are."""
        if self.most_runs == 1:
            return ""
        few, many = self.fewest_runs, self.most_runs
        times = f"{few}" if few == many else f"{few} to {many}"
        return f"Each figure is the middle one of {times} runs, which strike at other moments."

    def as_check(self, version: str) -> CheckReport:
        """The preview's verdicts as a check has them, for JUnit and exit codes."""
        story = StoryChecked(
            self.new,
            self.title,
            self.checked,
            has_budgets=bool(self.checked),
            runs=self.runs,
            seconds=self.seconds,
        )
        return CheckReport((story,), version, seconds=self.seconds)
