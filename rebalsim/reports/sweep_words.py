"""Numbers and names of a sweep in words: what terminal, page and Markdown say alike."""

from __future__ import annotations

from rebalsim.domain.answer import Answer, PointSaid
from rebalsim.domain.metrics import METRICS, Metric
from rebalsim.domain.unit import Unit
from rebalsim.domain.verdict import Outcome
from rebalsim.words.times import say_duration

HOURS_A_MONTH = 730


def say_metric(name: str, value: float | None) -> str:
    """A metric's value as people read it."""
    metric: Metric | None = METRICS.get(name)
    if value is None:
        return "unknown"
    unit = metric.unit if metric else Unit.COUNT
    if unit == Unit.DURATION:
        return say_duration(round(value))
    if unit == Unit.PARTITION_TIME:
        return f"{value / 1e6:,.1f} s" if value < 1e8 else f"{value / 1e6:,.0f} s"
    if unit == Unit.SHARE:
        return f"{value * 100:.1f} %"
    if unit == Unit.PER_HOUR:
        return f"{value:.1f}/h"
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"


def say_objective(answer: Answer, place: int, value: float | None) -> str:
    """An objective's value: money, a metric, an axis or a number of consumers."""
    if value is None:
        return "–"
    text = answer.objectives[place]
    name = text.split()[-1].replace("-", "_")
    if name == "cost":
        return say_money(answer, value)
    if name in METRICS:
        return say_metric(name, value)
    axis = next((a for a in answer.axes if a.name == name), None)
    if axis is not None and axis.kind == "duration":
        return say_duration(round(value))
    return f"{value:g}"


def say_money(answer: Answer, per_hour: float | None) -> str:
    """Money a month: nobody plans by the hour."""
    return "–" if per_hour is None else f"{per_hour * HOURS_A_MONTH:,.0f} {answer.currency}"


def next_said(answer: Answer) -> str:
    """How the point is called that the best one is held against: cheaper, where money or the number
    of members shall be small.
    """
    name = answer.objectives[0].split()[-1]
    return f"The next {'cheaper' if name in ('cost', 'members') else 'better'} one"


def cheaper_said(answer: Answer, point: PointSaid) -> str:
    """What a cheaper point saves: `members 67 instead of 72, 5,869 EUR instead of 6,307 EUR a
    month`.
    """
    name, best = answer.objectives[0].split()[-1].replace("-", "_"), answer.best[0]
    # as the plan's axis writes it: members that the script adds are in a run's count, not in that
    values = [p.at.get(name) or say_objective(answer, 0, p.objectives[0]) for p in (point, best)]
    if name == "cost":
        return f"{values[0]} instead of {values[1]} a month"
    said = f"{name} {values[0]} instead of {values[1]}"
    money = [say_money(answer, p.cost_per_hour) for p in (point, best)]
    if answer.has_costs and money[0] != money[1]:
        said += f", {money[0]} instead of {money[1]} a month"
    return said


def say_busy(share: float | None) -> str:
    return "–" if not share else f"{share * 100:.0f} %"


def say_kafka_settings(point: PointSaid) -> str:
    """`members 80 · session.timeout.ms 10s · cooperative`: by the keys that one writes, where
    `say_settings` has the plan's short names.
    """
    keys = [
        (path.removeprefix("group.config.").removeprefix("group."), value)
        for path, value in point.settings
    ]
    return " · ".join([*(f"{key} {value}" for key, value in keys), point.variant])


def fullest_said(point: PointSaid) -> str:
    return (
        f"its member with the most partitions is busy {say_busy(point.fullest)} of the time, "
        "before anything happens"
    )


def falls_behind(point: PointSaid) -> str:
    """Why no timeout helps where members have too much to do."""
    return (
        f"its fullest member would have to be busy {say_busy(point.fullest)} of the time: its "
        "lag grows for ever"
    )


def main_title(answer: Answer) -> str:
    """The metric that pictures are about, with its percentile over the seeds."""
    over = (
        f"p{answer.main_percentile:g} of seeds"
        if answer.main_percentile is not None
        else "worst seed"
    )
    return f"{answer.main_metric} ({over})"


def say_settings(point: PointSaid) -> str:
    """`members 6 · session 10s · cooperative`."""
    return " · ".join([*(f"{name} {value}" for name, value in point.at.items()), point.variant])


def run_of(point: PointSaid, seed: int) -> str:
    return f"{point.number}-{point.variant}-{seed}"


def replay_command(answer: Answer, point: PointSaid, seed: int) -> str:
    return f"rebalsim replay {answer.out} --run {run_of(point, seed)}"


def main_value(answer: Answer, point: PointSaid) -> float | None:
    """The main metric at a point, over its seeds as the plan asks."""
    for text, value in zip(answer.objectives, point.objectives):
        if text.split()[-1].replace("-", "_") == answer.main_metric:
            return value
    return point.metrics.get(answer.main_metric, (None, None, None))[2]


def verdict_sentence(answer: Answer) -> str:
    """How many points do, and why the others do not."""
    parts = []
    if answer.failing:
        parts.append(f"{answer.failing:,} break a budget")
    if answer.inconclusive:
        parts.append(
            f"{answer.inconclusive:,} cannot be judged (something was still open at the horizon)"
        )
    if answer.erring:
        parts.append(f"{answer.erring:,} cannot be played")
    said = f"{answer.passing:,} of {answer.points:,} " + (
        "meet all budgets" if answer.budgets else "were played (there are no budgets)"
    )
    return said + (f"; {', '.join(parts)}" if parts else "")


STILL_OPEN = "? is undecided: something was still open at the horizon"


def say_point(point: PointSaid) -> str:
    """Its number, with a mark where it is neither kept nor broken."""
    return f"? {point.number}" if is_undecided(point) else str(point.number)


def is_undecided(point: PointSaid) -> bool:
    return point.verdict == Outcome.INCONCLUSIVE
