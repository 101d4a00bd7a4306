"""What changed against a baseline, in words: improved, regressed, new, gone, by which phase, and
where the difference comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalsim.analysis.baseline import (
    Baseline,
    Change,
    VariantBaseline,
    metric_of,
    parts_changed,
    settings_changed,
)
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.unit import Unit
from rebalsim.reports import figures
from rebalsim.reports.check_report import Comparison
from rebalsim.reports.verdict_told import say_amount
from rebalsim.words.lists import listed
from rebalsim.words.times import say_duration


@dataclass(frozen=True, slots=True)
class Told:
    """One figure's change. `sign` as in plans: ~ changed, + new, - gone."""

    sign: str
    title: str
    before: str
    after: str
    said: str  # regressed +41.0 s (12 ×), improved …
    kind: str
    is_too_much: bool
    phases: str  # mostly detection +41.0 s


def tell_change(change: Change, comparison: Comparison) -> Told:
    """A change in words."""
    metric = metric_of(change.metric)
    title = figures.title_of(metric) + change.metric.removeprefix(metric)
    if change.before is None or change.after is None:
        is_new = change.before is None
        value = say_amount(metric, change.after if is_new else change.before)
        return Told(
            "+" if is_new else "-",
            title,
            "" if is_new else value,
            value if is_new else "",
            "new" if is_new else "gone",
            change.kind,
            False,
            "",
        )
    before, after = (
        say_amount(metric, change.before, change.after),
        say_amount(metric, change.after, change.before),
    )
    return Told(
        "~",
        title,
        before,
        after,
        f"{change.kind}{_by(metric, change)}",
        change.kind,
        comparison.is_too_much(change),
        _phases(change),
    )


def tell_regression(change: Change, comparison: Comparison) -> str:
    """What got worse than is allowed, by how much, in which phase, and why."""
    told = tell_change(change, comparison)
    said = f"{told.title} of {change.variant} {told.before} → {told.after}: {told.said}"
    allowed = comparison.max_regression
    if allowed is not None:
        said += f", where {say_percent(allowed)} is allowed against {comparison.file}"
    if told.phases:
        said += f"; by phase {told.phases}"
    why = comparison.reasons.get((change.file, change.variant), "")
    return f"{said}; {why}" if why else said


def say_percent(share: float) -> str:
    """`5 %`, `0.5 %`; from ten times on as people say it: `32 times as much`."""
    percent = 100 * share
    if percent >= 900:
        return f"{share + 1:,.0f} times as much"
    return (
        f"{percent:,.0f} %" if percent >= 9.5 or percent == round(percent) else f"{percent:.2g} %"
    )


def _by(metric: str, change: Change) -> str:
    assert change.before is not None and change.after is not None
    by = change.after - change.before
    sign = "+" if by > 0 else "−"
    said = (
        say_duration(round(abs(by)))
        if METRICS[metric].unit == Unit.DURATION
        else say_amount(metric, abs(by))
    )
    part = abs(by / change.before) if change.before else 0.0
    share = f" ({sign if part < 9 else ''}{say_percent(part)})" if change.before else ""
    return f" {sign}{said}{share}"


def _phases(change: Change) -> str:
    """The phases that made the difference, of the time summed over partitions."""
    told = [
        f"{phase} "
        f"{'+' if after > before else '−'}{say_amount('partition_seconds', abs(after - before))}"
        for phase, before, after in change.phases[:3]
    ]
    return ", ".join(told)


def undecided_said(comparison: Comparison) -> list[str]:
    """A line for each variant some of whose figures a longer horizon decides."""
    return [
        f"{file} · {variant}: undecided, for a longer horizon could still make it worse: "
        f"{listed([figures.title_of(name) for name in names])}"
        for (file, variant), names in comparison.undecided.items()
    ]


def summary_of(comparison: Comparison) -> str:
    """`2 improved, 1 regressed, 3 new`."""
    kinds = [c.kind for c in comparison.changes]
    told = [
        f"{kinds.count(kind)} {kind}"
        for kind in ("improved", "regressed", "changed", "new", "gone")
        if kind in kinds
    ]
    return ", ".join(told) if told else "nothing changed"


def _settings_told(turned: list[tuple[str, str, str]], line_of: Callable[[str], int]) -> str:
    told = [
        f"{key} {was} → {now}{f' (line {line})' if (line := line_of(key)) else ''}"
        for key, was, now in turned[:MOST_SETTINGS]
    ]
    told += [f"{len(turned) - MOST_SETTINGS} more"] if len(turned) > MOST_SETTINGS else []
    return ", ".join(told) if told else "its Kafka settings changed"


def what_changed(
    before: Baseline,
    after: Baseline,
    file: str,
    variant: str,
    line_of: Callable[[str], int] = lambda key: 0,
) -> str:
    """Where a difference comes from: a changed rebalsim, a changed story, changed settings,
    other seeds; in words, empty where nothing did. `line_of`: where the file says a setting, 0
    where it does not.
    """
    old, new = before.stories.get(file, {}).get(variant), after.stories.get(file, {}).get(variant)
    if old is None or new is None:
        return ""
    said = (
        [f"rebalsim changed ({before.rebalsim} → {after.rebalsim})"]
        if before.rebalsim != after.rebalsim
        else []
    )
    if not old.story:
        said.append("rebalsim or the story changed: the baseline's form is older and tells neither")
    elif old.story != new.story:
        parts = parts_changed(old, new)
        which = listed(parts, 9) if parts else "topics, members, handlers or script"
        said.append(f"the story changed ({which})")
    if old.config and old.config != new.config:
        said.append(_settings_told(settings_changed(old, new), line_of))
    if (old.seed, old.runs) != (new.seed, new.runs):
        said.append(f"other seeds ({_seeds(old)} → {_seeds(new)})")
    if not said and (old.metrics != new.metrics or old.phases != new.phases):
        # nothing else can: the draws are the same
        return "rebalsim itself changed, though its version did not"
    return "; ".join(said)


def line_changed(
    before: Baseline, after: Baseline, file: str, variant: str, line_of: Callable[[str], int]
) -> int:
    """Where the file says the first of the settings that changed; 1 where it says none of them."""
    old, new = before.stories.get(file, {}).get(variant), after.stories.get(file, {}).get(variant)
    if old is None or new is None or not old.config:
        return 1
    return next((line for key, _, _ in settings_changed(old, new) if (line := line_of(key))), 1)


MOST_SETTINGS = 4


def _seeds(one: VariantBaseline) -> str:
    return f"{one.seed}" if one.runs == 1 else f"{one.seed} … {one.seed + one.runs - 1}"
