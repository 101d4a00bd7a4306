"""A check as one page over all scenarios: what is broken first, then a table a scenario, then
the baseline. No script, nothing loaded, escaped.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Ending, Outcome
from rebalsim.reports.baseline_told import summary_of, tell_change
from rebalsim.reports.check_report import Checked, CheckReport, StoryChecked
from rebalsim.reports.check_to_terminal import summary_text
from rebalsim.reports.outcomes_told import SIGNS_OF_PAGES
from rebalsim.reports.page_tables import table, text
from rebalsim.reports.verdict_told import say_against, say_headroom, say_runs

_COLOURS = {Ending.PASS: "good", Ending.INCONCLUSIVE: "warn"}


def render(report: CheckReport) -> str:
    """The page."""
    style = _style()
    policy = (
        "default-src 'none'; style-src "
        f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'"
    )
    css, said = _COLOURS.get(report.ending, "bad"), report.heading
    broken = [c for c in report.checked if c.outcome is not Outcome.PASS]
    body = "".join(
        (
            f'<header class="top"><div><h1><span class="{css}">{said}</span></h1><p '
            f'class="facts">{text(summary_text(report))}</p></div></header><main>',
            "".join(f'<p class="bad">{text(problem)}</p>' for problem in report.problems),
            '<section id="broken"><h2>Not kept</h2><ul '
            f'class="plain">{"".join(map(_reason, broken))}</ul></section>'
            if broken
            else "",
            _flips(report),
            "".join(map(_story, report.stories)),
            _comparison(report),
            "</main>",
            f'<footer class="dim"><p>rebalsim {text(report.version)}</p></footer>',
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta '
        f'http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta '
        'name="referrer" content="no-referrer">\n'
        "<title>Pause budgets – "
        f"rebalsim</title><style>{style}</style></head><body>\n{body}\n</body></html>\n"
    )


def _reason(c: Checked) -> str:
    hint = f'<span class="hint">→ {text(c.hint)}</span>' if c.hint else ""
    runs = (
        f'<span class="hint">{text(say_runs(c) or c.spread)}</span>'
        if say_runs(c) or c.spread
        else ""
    )
    return (
        f"<li><strong>{text(c.place)}</strong> {text(c.variant)}: <code>{text(c.name)}</code> "
        f"{_sign(c)}: {text(say_against(c))} "
        f"{text(say_headroom(c))}<br>{text(c.because)}{hint}{runs}<span "
        f'class="hint"><code>{text(c.again)}</code></span></li>'
    )


def _sign(c: Checked) -> str:
    css, said = (
        ("warn", "! warned of")
        if c.outcome is not Outcome.PASS and c.level == Level.WARN
        else SIGNS_OF_PAGES[c.outcome]
    )
    return f'<span class="{css}">{said}</span>'


def _story(story: StoryChecked) -> str:
    told = "".join(
        f'<pre class="bad">{text(p.file)}:{p.line}:{p.column}: {text(p.message)}</pre>'
        for p in story.problems
    )
    told += (
        f'<p class="bad">rebalsim contradicts itself: {text(story.bug)}</p>' if story.bug else ""
    )
    rows = [
        [
            f"<code>{text(c.name)}</code>",
            text(c.variant),
            _sign(c),
            text(say_against(c)),
            text(say_headroom(c)),
            f"line {c.line}",
        ]
        for c in story.checked
    ]
    told += (
        table(
            f"{story.runs} runs",
            ["budget", "variant", "", "observed", "head-room", "in the file"],
            rows,
        )
        if rows
        else ""
    )
    told += "".join(f'<p class="dim">{text(note)}</p>' for note in story.notes)
    return (
        f"<section><h2>{text(story.title or story.file)}</h2><p "
        f'class="facts">{text(story.file)}</p>{told}</section>'
    )


def _flips(report: CheckReport) -> str:
    if report.flips is None:
        return ""
    rows = [
        [
            f"<code>{text(f.name)}</code>",
            text(f.variant),
            text(f.before),
            text(f.after),
            text(" → ".join(f.outcomes)),
            text(f.file),
        ]
        for f in report.flips
    ]
    return (
        '<section id="what-if"><h2>What '
        f"if</h2>{table(text(' '.join(report.overrides)), ['', 'variant', 'before', 'after', '', 'file'], rows)}</section>"
    )


def _comparison(report: CheckReport) -> str:
    comparison = report.comparison
    if comparison is None:
        return ""
    rows = []
    for change in comparison.changes:
        told = tell_change(change, comparison)
        css = {"improved": "good", "regressed": "bad"}.get(told.kind, "dim")
        said = f'<span class="{css}">{text(told.said)}</span>'
        because = comparison.reasons.get((change.file, change.variant), "")
        figures = map(text, (told.title, change.variant, told.before, told.after))
        rows.append([*figures, said, text(told.phases), text(because), text(change.file)])
    head = ["metric", "variant", "before", "after", "", "by phase", "because", "file"]
    return (
        f'<section id="baseline"><h2>Against {text(comparison.file)}: '
        f"{text(summary_of(comparison))}</h2>"
        f"{table(f'Saved by rebalsim {text(comparison.rebalsim)}.', head, rows, long=(6,))}</section>"
    )


@cache
def _style() -> str:
    return resources.files("rebalsim.reports").joinpath("page", "page.css").read_text("utf-8")
