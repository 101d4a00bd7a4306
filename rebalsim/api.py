"""rebalsim from Python: `replay("deploy.yaml").variant("cooperative").pauses.longest < seconds(2)`,
for tests in the suite that people have.

Values read as sentences when an assertion fails. Everything is played when it is first asked
for, and once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.analysis import analyse as analyse_trace
from rebalsim.analysis.selecting import selected_pauses
from rebalsim.analysis.values import Pause
from rebalsim.domain.errors import InputError
from rebalsim.domain.instants import MINUTE, MS, SECOND
from rebalsim.domain.metrics import EVERYTHING, METRICS, Metric, Selection
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.unit import Better
from rebalsim.reports.check_report import Checked
from rebalsim.scenario.load import load_scenario
from rebalsim.scenario.story import Story
from rebalsim.trace.trace import Trace
from rebalsim.words.nearest import nearest_metric
from rebalsim.words.times import say_duration


class Duration(int):
    """A length of time in µs: compares like a number, reads like `3.01 s`."""

    def __repr__(self) -> str:
        return say_duration(int(self))

    __str__ = __repr__

    @property
    def seconds(self) -> float:
        return self / SECOND


def seconds(amount: float) -> Duration:
    """So many seconds."""
    return Duration(round(amount * SECOND))


def milliseconds(amount: float) -> Duration:
    """So many milliseconds."""
    return Duration(round(amount * MS))


def minutes(amount: float) -> Duration:
    """So many minutes."""
    return Duration(round(amount * MINUTE))


def replay(
    path: str | Path,
    overrides: Mapping[str, Any] | Iterable[str] = (),
    seed: int | None = None,
    allow_code: bool = False,
) -> Replay:
    """The scenario in this file (or the stock story of this name), ready to be played.
    `overrides` as in --set: `{"group.members": 5}`.
    """
    wanted: list[Any] = (
        list(overrides.items()) if isinstance(overrides, Mapping) else list(overrides)
    )
    return Replay(
        load_scenario(path, [*wanted, *([("seed", seed)] if seed is not None else [])], allow_code)
    )


def analyse(trace: Trace | str | Path) -> Analysis:
    """What a trace means: of a value, or of a trace file that `rebalsim run --trace` wrote."""
    if isinstance(trace, Trace):
        return analyse_trace(trace)
    from rebalsim.trace.jsonl import read_trace

    return analyse_trace(read_trace(Path(trace)))


class Replay:
    """One story in all its variants."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._played: dict[str, PlayedVariant] = {}

    def __repr__(self) -> str:
        return f"<{self.story.file}: {', '.join(self.story.variants)}>"

    @property
    def variants(self) -> tuple[str, ...]:
        return self.story.variants

    def variant(self, name: str = "") -> PlayedVariant:
        """One variant, played; the only one, if none is named."""
        name = self._named(name)
        if name not in self._played:
            from rebalsim.one_run import run_once

            run = run_once(self.story.scenario(name))
            self._played[name] = PlayedVariant(name, run.analysis)
        return self._played[name]

    def _named(self, name: str) -> str:
        if not name and len(self.story.variants) > 1:
            raise InputError(
                f"{self.story.file} is played as {', '.join(self.story.variants)} — say which "
                f'with variant("{self.story.variants[0]}")'
            )
        return name or self.story.variants[0]

    def spread(self, metric: str, variant: str = "", seeds: int | None = None) -> Over:
        """A metric over several seeds, 20 unless said or the group is large (5): each strikes at
        another moment between two heartbeats, and under the consumer protocol one run is a
        sample in other ways, too.
        """
        from rebalsim.one_run import run_once, spread_seeds

        scenario, known = self.story.scenario(self._named(variant)), _known_metric(metric)
        count = spread_seeds(scenario) if seeds is None else seeds
        measured = (
            run_once(scenario, seed).analysis.measure(known.name)
            for seed in range(scenario.seed, scenario.seed + count)
        )
        return Over(known, count, sorted(value for value in measured if value is not None))

    def budgets(self, runs: int | None = None) -> tuple[Checked, ...]:
        """Every budget and expectation of the file, judged; ProblemsError where one makes no
        sense.
        """
        from rebalsim.check.one_story import StoryJudge
        from rebalsim.domain.errors import ProblemsError

        judge = StoryJudge(self.story, runs=runs, tells_spread=True)
        if problems := judge.problems():
            raise ProblemsError(problems)
        return judge.checked()


class Over:
    """What a metric comes to over several seeds."""

    def __init__(self, metric: Metric, seeds: int, values: Sequence[float]) -> None:
        self.metric = metric
        self.seeds = seeds
        self.values = values  # of those seeds that could tell, ascending

    def __repr__(self) -> str:
        return (
            f"<{self.metric.name} over {self.seeds} seeds: median {self.median}, p95 {self.p95}, "
            f"worst {self.worst}>"
        )

    @property
    def median(self) -> float | Duration | None:
        return _in_unit(self.metric, percentile(self.values, 50))

    @property
    def p95(self) -> float | Duration | None:
        return _in_unit(self.metric, percentile(self.values, 95))

    @property
    def worst(self) -> float | Duration | None:
        return _in_unit(
            self.metric,
            self.values[0 if self.metric.better == Better.MORE else -1] if self.values else None,
        )


def _known_metric(name: str) -> Metric:
    known = METRICS.get(name.replace("-", "_").replace(".", "_"))
    if known is None:
        near = nearest_metric(name)
        raise InputError(
            f"There is no metric '{name}' — "
            + (f"did you mean '{near}'?" if near else "`rebalsim explain metrics` lists them")
        )
    return known


def _in_unit(metric: Metric, value: float | None) -> float | Duration | None:
    return Duration(round(value)) if value is not None and metric.unit.is_time else value


class Selected:
    """A part of one variant's run: whatever is measured, is measured over it."""

    def __init__(self, analysis: Analysis, selection: Selection = EVERYTHING) -> None:
        self.analysis = analysis
        self.selection = selection

    def metric(self, name: str) -> float | Duration | None:
        """Any metric by its registered name; durations as such, None where this run cannot tell."""
        known = _known_metric(name)
        return _in_unit(known, self.analysis.measure(known.name, self.selection))

    def _duration(self, name: str) -> Duration:
        value = self.metric(name)
        assert isinstance(value, Duration), f"{name} is unknown here"
        return value

    def _number(self, name: str) -> int:
        value = self.metric(name)
        assert value is not None, f"{name} is unknown here"
        return int(value)


class Pauses(Selected, Sequence[Pause]):
    """The pauses of a run: a sequence, longest first, with its figures."""

    @property
    def _ordered(self) -> list[Pause]:
        return sorted(
            selected_pauses(self.analysis, self.selection),
            key=lambda p: (-p.length_us, p.started_us, p.partition),
        )

    def __len__(self) -> int:
        return len(selected_pauses(self.analysis, self.selection))

    def __getitem__(self, place: Any) -> Any:
        return self._ordered[place]

    def __iter__(self) -> Iterator[Pause]:
        return iter(self._ordered)

    def __repr__(self) -> str:
        from rebalsim.reports.sentences import tell, together

        told = together(self._ordered)
        more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
        return f"<{tell(told[0])}{more}>" if told else "<no partition stood still>"

    def of(
        self,
        *,
        topics: Sequence[str] = (),
        members: Sequence[str] = (),
        action: str = "",
        since: int | None = None,
        until: int | None = None,
    ) -> Pauses:
        """The pauses of some topics or members, within a window, or set off by one action of the
        script.
        """
        return Pauses(self.analysis, Selection(tuple(topics), tuple(members), since, until, action))

    @property
    def longest(self) -> Duration:
        return self._duration("longest_pause")

    @property
    def p95_over_partitions(self) -> Duration:
        return self._duration("p95_partition_pause")

    @property
    def total(self) -> Duration:
        """Summed over partitions: partition-seconds."""
        return self._duration("partition_seconds")

    @property
    def partitions(self) -> int:
        """How many partitions stood still at all."""
        return self._number("partitions_touched")

    @property
    def open(self) -> int:
        """How many had not ended when the story did."""
        return self._number("open_pauses")

    def spent_in(self, phase: str) -> Duration:
        """Time spent in a phase, summed over partitions: `pauses.spent_in("barrier")`."""
        return self._duration(f"partition_seconds_{phase.replace('-', '_')}")


class PlayedVariant(Selected):
    """One variant of a story, played."""

    def __init__(self, name: str, analysis: Analysis) -> None:
        super().__init__(analysis)
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}: {self.pauses!r}>"

    @property
    def trace(self) -> Trace:
        return self.analysis.trace

    @property
    def pauses(self) -> Pauses:
        return Pauses(self.analysis)

    @property
    def rebalances(self) -> int:
        return self._number("rebalances")

    @property
    def settle_time(self) -> Duration:
        return self._duration("settle_time")

    @property
    def duplicates(self) -> int:
        return self._number("duplicates")

    @property
    def lag_peak(self) -> int:
        return self._number("lag_peak")
