"""A sweep's answer as one page that needs nothing but itself: heat map, percentile curves, Pareto
front, tornado; a click shows a point.

Names in plans are hostile text: they reach the page as JSON with every `<` spelt out, and the
script writes text nodes only. Script and style are allowed by their hashes, everything else by
nobody.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from rebalsim.domain.answer import Answer, Bar, PointSaid
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.verdict import Outcome
from rebalsim.outside.text import inert_data
from rebalsim.reports import figures
from rebalsim.reports.page_tables import text as text_of
from rebalsim.reports.sweep_words import cheaper_said, next_said, say_settings, verdict_sentence
from rebalsim.words.lists import listed

MOST_BUDGETS = 3  # that are named of a point that breaks them
_ALSO = (
    "rebalances",
    "partition_seconds",
    "lag_peak",
    "settle_time",
    "unsettled",
    "duplicates",
    "members_removed",
)


def render(answer: Answer) -> str:
    """The page."""
    style, script = _part("sweep_page.css"), _part("sweep_page.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src "
        f"'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(inert_data(_data(answer)), ensure_ascii=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    title = text_of(answer.title)
    about = f"<p>{text_of(answer.description)}</p>" if answer.description else ""
    heat = _panel("heat", "Over two axes", '<div class="controls" id="heat-controls"></div>')
    pair = _panels(answer)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta '
        f'http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title} – '
        f"rebalsim sweep</title><style>{style}</style></head><body>\n"
        f"<header><h1>{title}</h1>{about}<p><strong>{text_of(verdict_sentence(answer))}</strong></p>"
        f'<p class="dim">{answer.runs:,} runs · plan {text_of(answer.plan_file)} · rebalsim '
        f"{text_of(answer.version)}"
        f"{'' if answer.is_all_shown else ' · of so many points this page shows the best, the front, and the plane through the best one'}</p></header>\n"
        "<main><section><h2>Meeting all budgets, by "
        f'{text_of(", then ".join(answer.objectives))}</h2><div id="best"></div>{_next_cheaper(answer)}</section>\n'
        "<section><h2>The point you chose</h2><div "
        f'id="chosen"></div></section>\n{heat}\n{pair}\n{_moves(answer)}</main>\n'
        "<noscript><p>This page draws with a script of its own. Without it, see the tables in "
        f"{text_of(answer.out)}.</p></noscript>\n"
        '<script type="application/json" '
        f'id="data">{data}</script>\n<script>{script}</script>\n</body></html>\n'
    )


def _panel(name: str, heading: str, before: str = "") -> str:
    """A picture that the script draws, and beneath it the same as a table."""
    return (
        f'<section><h2>{heading}</h2>{before}<div id="{name}"></div><details><summary>as a '
        f'table</summary><div class="scroll" id="{name}-table"></div></details></section>'
    )


def _panels(answer: Answer) -> str:
    """Side by side what has something to show: a front needs two objectives, percentiles need
    three seeds.
    """
    found = [_panel("pareto", "What can be had for what")] if len(answer.objectives) > 1 else []
    found += [_panel("curves", "Over the seeds")] if answer.seeds >= 3 else []
    return f'<div class="two">{"".join(found)}</div>' if len(found) > 1 else "".join(found)


def _next_cheaper(answer: Answer) -> str:
    """What the next better point of the same variant breaks, as on a terminal."""
    point = answer.next_cheaper
    if point is None or not answer.best:
        return ""
    missed = [b.budget for b in answer.next_cheaper_budgets if b.verdict == Outcome.FAIL]
    said = (
        f"{next_said(answer)} ({cheaper_said(answer, point)}), {say_settings(point)}, breaks "
        f"{listed(missed, MOST_BUDGETS)}."
    )
    return f'<p class="dim">{text_of(said)}</p>' if missed else ""


def _moves(answer: Answer) -> str:
    """The tornado; nothing where nothing moves the main metric."""
    if not answer.tornado:
        return ""
    heading = f"What moves {text_of(figures.title_of(answer.main_metric))}"
    mean = "The mean over all points that have the value where it is lowest, and highest."
    return _panel("tornado", heading, f'<p class="dim">{mean}</p>')


def _part(name: str) -> str:
    return resources.files("rebalsim.reports").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(answer: Answer) -> dict[str, Any]:
    objective_metrics = [text.split()[-1].replace("-", "_") for text in answer.objectives]
    wanted = (
        answer.main_metric,
        *objective_metrics,
        *(_metric_of(b) for b in answer.budgets),
        answer.show,
        *_ALSO,
    )
    metrics = list(dict.fromkeys(m for m in wanted if m in METRICS))
    known = [m for m in metrics if all(m in p.metrics for p in answer.shown[:1])]
    units: dict[str, str] = {m: METRICS[m].unit for m in known}
    for name in objective_metrics:
        units.setdefault(name, _unit(answer, name))
    names = [a.name for a in answer.axes]
    heat = [names.index(h) for h in answer.heat if h in names]
    limits = [
        {"metric": _metric_of(b.budget), "limit": b.limit} for b in answer.next_cheaper_budgets
    ]
    return {
        "axes": [{"name": a.name, "path": a.path, "labels": list(a.labels)} for a in answer.axes],
        "variants": list(answer.variants),
        "objectives": list(answer.objectives),
        "objectiveMetrics": objective_metrics,
        "budgets": list(answer.budgets),
        "limits": limits,
        "metrics": known,
        "units": units,
        "titles": {m: figures.title_of(m) for m in units if m in METRICS},
        "main": answer.main_metric,
        "percentile": answer.main_percentile,
        "currency": answer.currency,
        "hasCosts": answer.has_costs,
        "heat": heat or [0],
        "out": answer.out,
        "firstSeed": answer.first_seed,
        "seeds": answer.seeds,
        "show": answer.show
        if answer.show in ("verdict", "settles", *known)
        else answer.main_metric,
        "best": [f"{p.number}-{p.variant}" for p in answer.best],
        "curves": answer.curves,
        "points": [_point(answer, p, known) for p in answer.shown],
        "tornado": [_bar(b) for b in answer.tornado],
    }


def _unit(answer: Answer, name: str) -> str:
    """Of an objective: a metric, an axis, or money."""
    if name == "cost":
        return "money"
    axis = next((a for a in answer.axes if a.name == name), None)
    return axis.kind if axis else METRICS[name].unit if name in METRICS else "count"


def _bar(b: Bar) -> dict[str, Any]:
    return {
        "axis": b.axis,
        "low": b.low,
        "lowValue": b.low_value,
        "high": b.high,
        "highValue": b.high_value,
        "values": [
            {
                "value": v.value,
                "points": v.points,
                "share": v.pass_share,
                "mean": v.mean,
                "least": v.least,
                "most": v.most,
            }
            for v in b.values
        ],
    }


def _point(answer: Answer, point: PointSaid, metrics: list[str]) -> dict[str, Any]:
    budgets = list(answer.budgets)
    said: dict[str, Any] = {
        "n": point.number,
        "s": answer.scenarios.index(point.scenario),
        "v": answer.variants.index(point.variant),
        "d": [point.digits[a.name] for a in answer.axes],
        "w": point.verdict,
        "b": [budgets.index(b) for b in point.broken if b in budgets],
        "o": list(point.objectives),
        "f": point.is_on_front,
        "m": [list(point.metrics[m]) for m in metrics],
        "g": point.settles,
        "r": point.pass_share,
        "k": point.seeds,
    }
    if answer.has_costs and point.cost_per_hour is not None:
        said["c"] = point.cost_per_hour
    if point.fullest:
        said["u"] = round(point.fullest, 3)
    if any(a.is_sampled for a in answer.axes):
        said["at"] = [point.at[a.name] for a in answer.axes]
    if point.error:
        said["e"] = point.error
    return said


def _metric_of(budget: str | Budget) -> str:
    text = budget if isinstance(budget, str) else budget.text
    return text.split()[0].replace("-", "_").replace(".", "_")
