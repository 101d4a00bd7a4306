"""A preview as one page without anything to load: what the terminal tells, and tables."""

from __future__ import annotations

import html
from collections.abc import Iterable

from rebalsim.reports.outcomes_told import OUTCOMES
from rebalsim.reports.preview_to_terminal import ADVICE, columns, difference_told
from rebalsim.reports.previewed import Previewed, budget_told
from rebalsim.reports.terminal_page import glue

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;"
    "color:#1c2833;background:#fff}table{border-collapse:collapse;margin:1rem 0}"
    "caption{caption-side:bottom;text-align:left;color:#5d6d7e}"
    "td,th{padding:.25rem .75rem;border-bottom:1px solid #d5dbdf;text-align:left}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.verdict{font-size:1.2rem}"
    "@media(prefers-color-scheme:dark){body{color:#e5e8e8;background:#17202a}"
    "td,th{border-color:#34495e}}"
)


def render(told: Previewed) -> str:
    compared = f"{told.old} → {told.new}" if told.old else f"{told.new}, as it stands"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width'>",
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">",
        f"<title>{_e(told.title)}</title><style>{_STYLE}</style>",
        f"<h1>{_e(told.title)}</h1><p>{_e(compared)}</p><p class=verdict>{_e(told.verdict)}</p>",
        _list("Kafka refuses", told.refused),
        _list(
            "Budgets",
            (
                f"{OUTCOMES[c.outcome].sign} {c.name}: {budget_told(c)}"
                f"{f' → {c.hint}' if c.hint else ''}"
                for c in told.checked
            ),
        ),
        _list("What differs", map(difference_told, told.differences)),
        _figures(told),
        _list("What stands still longest, and why", told.worst),
        _list("How it is rolled", told.rollouts),
        _list(ADVICE, told.advice),
        _list("Would hurt", told.hurts),
        _list("Notes", told.notes),
        _list("Assumed, until you measure it", told.assumed),
        "</html>",
    ]
    return "\n".join(p for p in parts if p) + "\n"


def _e(text: str) -> str:
    return html.escape(glue(text), quote=True)


def _list(title: str, texts: Iterable[str]) -> str:
    items = "".join(f"<li>{_e(t)}</li>" for t in texts)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _figures(told: Previewed) -> str:
    if not told.figures:
        return ""
    heads, *rows = columns(told)
    head = "".join(f"<th>{_e(h)}</th>" for h in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{_e(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    caption = f"<caption>{_e(told.caption)}</caption>" if told.caption else ""
    return f"<table>{caption}<tr>{head}</tr>{body}</table>"
