"""Remedies in words: what is changed, what it came to, over how many seeds, and its price."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rebalsim.analysis.baseline import metric_of
from rebalsim.analysis.values import Pause
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.remedy import Patch, Remedy
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import figures
from rebalsim.reports.names import safe
from rebalsim.reports.report import BudgetResult, Report, VariantReport
from rebalsim.words.lists import listed

NOTHING = 0.1  # less than a tenth is no gain
_BOUNDS = "group.consumer.min."  # what has to follow, so that the brokers take a lower value


def tell_patch(patch: Patch) -> str:
    """`max.poll.interval.ms 5m → 10s, session.timeout.ms 1m → 30s`."""
    turns = [t for t in patch.turns if not t.setting.startswith(_BOUNDS)]
    told = ", ".join(f"{t.setting} {t.before} → {t.after}" for t in turns)
    if len(turns) < len(patch.turns):
        told += " (and the brokers' least with it)"
    return f"{patch.script} ({told})" if patch.script and len(turns) == 1 else told


def tell_remedy(remedy: Remedy, first: str = "", of: str = "") -> str:
    """The whole arrow, without its sign. `first`: the metric that it is told for; `of`: of which
    story, where it is not the one that is told.
    """
    names = dict.fromkeys(([first] if first else []) + list(remedy.gains))
    gained = ", ".join(_from_to(name, remedy) for name in names)
    told = f"{tell_patch(remedy.patch)}: {gained} (tried over {len(remedy.seeds)} seeds{of})"
    told += f"; its price: {tell_price(remedy)}" if remedy.price else ""
    return f"{told}; it breaks {' and '.join(map(safe, remedy.breaks))}" if remedy.breaks else told


# Where a key stands is shown by the warning itself.
_OF_PLACES = re.compile(r"^(script\.\d+\.|streams\.(config\.)?|connectors\.[^.]+\.)")


def tell_fix(fix: Sequence[tuple[str, str]], variant: str, tried: Any) -> str:
    """What a warning's advice came to: `max.poll.interval.ms: 30s, tried over 20 seeds of eager:
    longest pause …`.
    """
    head = ", ".join(f"{_OF_PLACES.sub('', key)}: {value}" for key, value in fix)
    head += f", tried over {tried.seeds} seeds of {safe(variant)}"

    def told(names: Sequence[str]) -> str:
        return ", ".join(
            f"{figures.title_of(name)} "
            f"{figures.say_change(name, tried.before[name], tried.after[name])}"
            for name in names
        )

    if not tried.better and not tried.worse:
        return f"{head}, changes no headline of this story by more than a tenth"
    better = told(tried.better) or "nothing is better"
    return f"{head}: {better}" + (f"; its price: {told(tried.worse)}" if tried.worse else "")


def tell_price(remedy: Remedy) -> str:
    """What gets worse by more than a tenth; empty where nothing does."""
    return ", ".join(_from_to(name, remedy) for name in remedy.price)


def _tenth(metric: str, remedy: Remedy) -> float:
    return NOTHING * remedy.before.get(metric, 0)


def _from_to(name: str, remedy: Remedy) -> str:
    metric = metric_of(name)
    told = figures.say_change(metric, remedy.before.get(name), remedy.after.get(name))
    return f"{figures.title_of(metric)} {told}"


def figures_of(found: Mapping[str, float]) -> dict[str, float]:
    """Of what was measured, the registered metrics; the longest pause is always among them."""
    return {name: value for name, value in found.items() if name in METRICS}


def remedies_for(pause: Pause, remedies: Iterable[Remedy]) -> list[Remedy]:
    """The remedies that were tried for this pause."""
    return [
        r
        for r in remedies
        if (r.of.group, r.of.partition, r.of.started_us)
        == (pause.group, str(pause.partition), pause.started_us)
    ]


def arrows_against(budget: BudgetResult, report: Report) -> list[str]:
    """What helps a broken budget, where no arrow under a pause has said so already."""
    if budget.outcome is not Outcome.FAIL:
        return []
    metric = budget.text.split(" ", 1)[0]
    found = [
        r
        for v in report.variants
        if budget.variant in ("", v.name)
        for r in v.remedies
        if metric_of(r.of.metric) == metric
    ]
    return [tell_remedy(r, r.of.metric) for r in found[:1]]


def remedy_against(metric: str, remedies: Iterable[Remedy]) -> Remedy | None:
    """The one that makes this metric least."""
    found = [
        r
        for r in remedies
        if metric in r.after and r.before.get(metric, 0) - r.after[metric] > _tenth(metric, r)
    ]
    return min(found, key=lambda r: r.after[metric], default=None)


def arrows(pauses: Sequence[tuple[Pause, VariantReport]]) -> list[str]:
    """What helps a pause that these variants share; where it comes to other figures in another of
    them, with its name.
    """
    found: dict[str, list[str]] = {}
    for pause, v in pauses:
        for remedy in remedies_for(pause, v.remedies):
            found.setdefault(tell_remedy(remedy), []).append(safe(v.name))
    everybody = [safe(v.name) for _, v in pauses]
    return [
        arrow if names == everybody else f"{listed(names)}: {arrow}"
        for arrow, names in found.items()
    ]
