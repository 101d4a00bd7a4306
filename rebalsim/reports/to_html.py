"""A report as one page that needs nothing but itself: timelines to zoom and click, lag, tables
beneath each picture, light and dark, printable.

Script and style are allowed by their hashes and everything else by nobody. Names are hostile
text: they are escaped in HTML, and reach the script as JSON in which no `<` stands; the script
writes text nodes only. Without a script the page still reads, with the terminal's picture.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib import resources
from typing import Any

from rebalsim.reports import page_parts as parts
from rebalsim.reports import page_tables
from rebalsim.reports.comparison import nouns_of_lanes
from rebalsim.reports.packed import pack
from rebalsim.reports.page_data import PACKED, data_of, lanes_shown
from rebalsim.reports.palette import LOOKS
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.to_terminal import picture_of
from rebalsim.reports.view import View
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

HELP = (
    "Drag to pan; double click, Ctrl + wheel or the buttons zoom; a click on a pause opens its "
    "chain. Keyboard: ↑ ↓ {lanes}, ← → pauses, "
    "Shift + ← → pan, + − 0 zoom, Esc closes the chain."
)


def render(report: Report) -> str:
    """The whole page, as HTML that needs no other file."""
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src "
        f"'sha256-{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    data = (
        json.dumps(_packed(data_of(report)), ensure_ascii=False, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
    )
    title = page_tables.text(report.title) or "rebalsim"
    facts = [f"Kafka {page_tables.text(report.kafka)}"] if report.kafka else []
    facts += [f"seed {report.seed}"] if report.seed is not None else []
    facts += [
        f"{say_duration(report.horizon_us)} played",
        *([page_tables.text(report.file)] if report.file else []),
    ]
    about = (
        f"<p>{page_tables.text(' '.join(report.description.split()))}</p>"
        if report.description
        else ""
    )
    body = "".join(
        (
            f'<header class="top"><div><h1>{title}</h1><p '
            f'class="facts">{" · ".join(facts)}</p></div>'
            f'<button id="theme" class="needs-script" hidden>Light / dark</button></header>',
            f"<main>{parts.lead(report)}{parts.alarms(report)}{about}{parts.budgets(report)}",
            _timelines(report),
            parts.chain(report),
            '<section id="longest"><h2>What stood still '
            f"longest</h2>{parts.longest(report)}</section>",
            f'<section id="summary">{parts.summary(report)}</section>',
            _lag(report),
            f'<section id="settings"><h2>Settings</h2>{page_tables.settings(report)}</section>',
            '<section id="members"><h2>Members</h2>',
            *(page_tables.members(v) for v in report.variants),
            "</section>",
            '<section id="rebalances"><h2>Rebalances</h2>',
            *(_closed(v, page_tables.rebalances(v)) for v in report.variants),
            "</section>",
            f'<section id="questions"><h2>Four questions</h2>{parts.questions(report)}</section>',
            f'<section id="again"><h2>Again</h2>{parts.how_to_repeat(report)}</section></main>',
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta '
        f'http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta '
        'name="referrer" content="no-referrer">\n'
        f"<title>{title} – rebalsim</title><style>{style}</style></head><body>\n{body}\n"
        '<div id="tip" role="tooltip" hidden></div><div id="said" class="sr" role="status" '
        'aria-live="polite"></div>\n'
        '<script type="application/json" '
        f'id="data">{data}</script>\n<script>{script}</script>\n</body></html>\n'
    )


def _packed(data: dict[str, Any]) -> dict[str, Any]:
    """The page's data with rows of numbers in short; `packed` says which."""
    variants = [
        {
            **v,
            **{key: pack(v[key]) for key in PACKED},
            "groups": [[name, pack(spans)] for name, spans in v["groups"]],
        }
        for v in data["variants"]
    ]
    return {**data, "variants": variants, "packed": list(PACKED)}


def _closed(v: VariantReport, inner: str) -> str:
    """Rounds in which a group forms are in the table, and no rebalances."""
    forming = sum(r.is_formation for r in v.analysis.rebalances)
    said = plural(len(v.analysis.rebalances) - forming, "rebalance")
    if forming:
        said += f", and {plural(forming, 'round')} in which a group formed"
    return f"<details><summary>{page_tables.text(v.title)}: {said}</summary>{inner}</details>"


def _timelines(report: Report) -> str:
    """A toolbar for all, a canvas a variant with its table beneath, the pause that was chosen;
    the terminal's picture where no script runs.
    """
    plain = picture_of(report, View(width=110, most_rows=60))
    lanes = nouns_of_lanes(report)
    one = " or ".join(f"a {noun.removesuffix('s')}" for noun in lanes.split(" and "))
    figures = "".join(
        f'<figure><h3>{page_tables.text(v.title)}</h3>{_left_out(v)}<div class="frame" '
        f'id="frame-{i}"><div class="tall"></div>'
        f'<canvas tabindex="0" role="application" aria-label="Timeline of {page_tables.text(v.title)}, '
        f'{one} a row" aria-describedby="help"></canvas></div>'
        f'<details id="details-{i}"><summary>as a table</summary><div class="scroll" '
        f'id="table-{i}"></div></details></figure>'
        for i, v in enumerate(report.variants)
    )
    return (
        '<section id="timelines"><h2>Timelines</h2>'
        f'<pre class="without-script">{html.escape(plain)}</pre>'
        '<div class="needs-script" hidden><div class="toolbar"><button id="zoom-in" '
        'aria-label="Zoom in">+</button>'
        '<button id="zoom-out" aria-label="Zoom out">−</button><button id="zoom-all">All</button>'
        f'<button id="fold" aria-pressed="true">Fold equal {lanes}</button>'
        f'<input id="filter" type="search" placeholder="Find by name" aria-label="Show '
        f'{lanes} whose name has this in it">'
        '<span id="window" class="dim"></span></div>'
        f'<p id="help" class="dim screen">{HELP.format(lanes=lanes)}</p>'
        f'<ul id="legend" class="legend"></ul><div id="beside"><div>{figures}</div>'
        '<div id="pause" tabindex="-1" aria-label="The pause you chose" hidden></div></div>'
        "</div></section>"
    )


def _left_out(v: VariantReport) -> str:
    shown, all_ = len(lanes_shown(v.analysis)), len(v.analysis.lanes)
    return (
        f'<p class="dim">These are the {shown:,} of {all_:,} partitions that stood still '
        "longest; --json has all of them.</p>"
        if shown < all_
        else ""
    )


def _lag(report: Report) -> str:
    """The curves, and beneath them the same as figures."""
    if not any(v.analysis.lag for v in report.variants):
        return ""
    rows = []
    for v in report.variants:
        worst = max(v.analysis.lag, key=lambda c: c.peak, default=None)
        if worst is None:
            continue
        caught = (
            say_duration(worst.caught_up_us - worst.peak_us)
            if worst.caught_up_us >= 0
            else "not before the end"
        )
        cells = (v.analysis.measure("lag_peak"), v.analysis.measure("lag_at_end"))
        rows.append(
            [
                page_tables.text(v.title),
                *("-" if x is None else f"{x:,.0f}" for x in cells),
                page_tables.text(worst.partition),
                f"{worst.peak:,.0f}",
                caught,
            ]
        )
    head = [
        "",
        "in all, at most",
        "in all, at the end",
        "worst partition",
        "its peak",
        "caught up after",
    ]
    return (
        '<section id="lag"><h2>Lag</h2><div class="needs-script" hidden><div '
        'class="toolbar"><span id="lag-what" class="dim"></span>'
        '<button id="lag-all" hidden>Show the sum</button></div><canvas id="lag-canvas" '
        'role="img" aria-label="Records behind, over time"></canvas></div>'
        f"{page_tables.table('Records that had arrived and were not handled.', head, rows, (1, 2, 4, 5))}</section>"
    )


@cache
def _style() -> str:
    colours = [
        "".join(f"--p-{kind.value}: {look.light}; " for kind, look in LOOKS.items()),
        "".join(f"--p-{k.value}: {x.dark}; " for k, x in LOOKS.items()),
    ]
    themed = (
        f':root {{ {colours[0]}}} :root[data-theme="dark"] {{ {colours[1]}}} '
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ '
        f"{colours[1]}}} }}\n"
    )
    return themed + _part("page.css")


@cache
def _script() -> str:
    names = sorted(
        f.name
        for f in resources.files("rebalsim.reports").joinpath("page").iterdir()
        if f.name.endswith(".js")
    )
    return '"use strict"; (() => {\n' + "".join(_part(name) for name in names) + "})();\n"


def _part(name: str) -> str:
    return resources.files("rebalsim.reports").joinpath("page", name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
