"""Runs to play, one after another or in several processes; results come in the order of the
tasks either way, so output is always the same.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.baseline import digests_of, parts_of, settings_of
from rebalsim.analysis.judge import BASELINE, measure_budget
from rebalsim.check.one_story import Key, Question, StoryJudge
from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import RebalsimError
from rebalsim.domain.metrics import HEADLINES, METRICS, PHASES
from rebalsim.domain.unit import Better
from rebalsim.domain.verdict import Measured
from rebalsim.reports.check_notes import PROCESS_DIED
from rebalsim.scenario.story import Story

_FEW = 3  # so many tasks are done before other processes have started


@dataclass(frozen=True, slots=True)
class Task:
    """Some seeds of one variant of one story."""

    place: int  # of the story among all
    story: Story
    questions: tuple[Question, ...]
    runs: int  # of the whole story
    variant: str
    seeds: tuple[int, int]  # from, until
    with_metrics: bool = False


@dataclass(slots=True)
class Tally:
    """A variant's figures over its seeds, for baselines: the worst of each headline, and of the
    time by phase.
    """

    story: str = ""
    config: str = ""
    values: dict[str, str] = field(default_factory=dict)  # the settings behind `config`
    parts: dict[str, str] = field(default_factory=dict)  # digests of the parts of `story`
    metrics: dict[str, float] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    still_open: tuple[str, ...] = ()  # headlines that some seed has not decided

    def add(self, other: Tally) -> None:
        """Take in another part of the same variant's seeds."""
        self.story, self.config, self.values = other.story, other.config, other.values
        self.parts = other.parts
        for mine, theirs in ((self.metrics, other.metrics), (self.phases, other.phases)):
            for name, value in theirs.items():
                mine[name] = worse(name, mine.get(name, value), value)
        self.still_open = tuple(dict.fromkeys((*self.still_open, *other.still_open)))


def worse(name: str, one: float, other: float) -> float:
    """The worse of two values of a metric; of a phase the longer."""
    return (
        min(one, other)
        if name in METRICS and METRICS[name].better == Better.MORE
        else max(one, other)
    )


@dataclass(slots=True)
class Played:
    """What came of a task."""

    task: Task
    measured: list[tuple[Key, Measured]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    bug: str = ""
    runs: int = 0


def play(task: Task) -> Played:
    """Play and measure. What goes wrong inside rebalsim is told, and stops no other story."""
    played = Played(task)
    seed = task.seeds[0]
    try:
        from rebalsim.one_run import run_once

        judge = StoryJudge(task.story, task.questions, task.runs)
        scenario = task.story.scenario(task.variant)
        for seed in range(*task.seeds):
            analysis = run_once(scenario, seed).analysis
            played.measured += judge.measure(task.variant, seed, analysis)
            played.runs += 1
            if task.with_metrics and seed < task.story.seed + task.runs:
                metrics = {
                    name: float(v)
                    for name in HEADLINES
                    if (v := analysis.measure(name)) is not None
                }
                phases = {
                    p: float(v)
                    for p in PHASES
                    if (v := analysis.measure(f"partition_seconds_{p.replace('-', '_')}"))
                }
                values = settings_of(scenario)
                still_open = tuple(name for name in metrics if _is_open(analysis, name))
                digests = digests_of(scenario)
                played.tally.add(
                    Tally(*digests, values, parts_of(scenario), metrics, phases, still_open)
                )
    except RebalsimError as e:
        played.bug = f"{task.variant}, seed {seed}: {e}"
    except Exception as e:
        played.bug = f"{task.variant}, seed {seed}: {type(e).__name__}: {e}"
    return played


def _is_open(analysis: Analysis, name: str) -> bool:
    """Whether the figure could still become worse than it is, or was never measured."""
    op = ">=" if METRICS[name].better == Better.MORE else "<="
    told = measure_budget(analysis, Budget(name, op, 1.0, "", relative_to=BASELINE))
    return bool(told.pending or told.unowned)


def play_all(tasks: Sequence[Task], jobs: int | None = None) -> Generator[Played, None, None]:
    """Every task's result, in order. With several processes where there is enough to do; `jobs`
    1 keeps to this one.
    """
    workers = min(cores() if jobs is None else jobs, len(tasks))
    if workers <= 1 or (
        jobs is None and len(tasks) <= _FEW and sum(t.seeds[1] - t.seeds[0] for t in tasks) <= _FEW
    ):
        yield from map(play, tasks)
        return
    yield from _in_processes(tasks, workers)


def _in_processes(tasks: Sequence[Task], workers: int) -> Generator[Played, None, None]:
    import multiprocessing
    import threading
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    import rebalsim.one_run  # noqa: F401 (once here, rather than in every process that is forked from this one)

    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("fork" if can_fork else "spawn"),
        _leave_interrupts_to_the_parent,
    )
    are_wanted = True
    try:
        futures = [pool.submit(play, task) for task in tasks]
        for task, future in zip(tasks, futures):
            try:
                played = future.result()
            except BrokenProcessPool:
                played = Played(task, bug=f"{task.variant}: {PROCESS_DIED}")
            are_wanted = task is not tasks[-1]
            yield played
    finally:
        if are_wanted:  # interrupted, or no more is asked for: nobody waits for runs under way
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def cores() -> int:
    """How many processes can run at once here."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
