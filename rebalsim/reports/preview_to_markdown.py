"""A preview as a comment on a pull request: at most forty lines before the rest is folded away."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from rebalsim.domain.verdict import Outcome
from rebalsim.reports.outcomes_told import EMOJIS
from rebalsim.reports.preview_to_terminal import ADVICE, columns, difference_told
from rebalsim.reports.previewed import Previewed, budget_told

MARK = "<!-- rebalsim preview -->"  # by which the comment is found again and updated


def render(told: Previewed) -> str:
    """The comment: verdict, budgets, figures, the worst pauses. What has no room is folded, and
    nothing is left out.
    """
    budgets = [
        f"{EMOJIS[c.outcome]} {c.name}: {budget_told(c)}{f' → {c.hint}' if c.hint else ''}"
        for c in sorted(told.checked, key=lambda c: c.outcome is Outcome.PASS)
    ]
    differs = [difference_told(d) for d in told.differences]
    advice = [f"💡 {text}" for text in told.advice]
    lines = [MARK, f"### {_safe(told.title)}", "", f"**{_safe(told.verdict)}**", ""]
    lines += _items(budgets[:5]) + _items(differs[:6]) + _items(told.notes[:3])
    lines += ["", *_table(told), ""]
    lines += _items(told.worst[:2]) + _items(advice[:2])
    more = (
        ("Kafka refuses", told.refused[1:]),
        ("Budgets", budgets[5:]),
        ("What differs", differs[6:]),
        ("Notes", told.notes[3:]),
        ("How it is rolled", told.rollouts),
        ("What stands still longest", told.worst[2:]),
        (ADVICE, advice[2:]),
        ("Would hurt", told.hurts),
        ("Assumed, until you measure it", told.assumed),
    )
    return "\n".join([*lines, *_folded(more)]) + "\n"


def _items(texts: Sequence[str]) -> list[str]:
    return [f"- {_safe(text)}" for text in texts]


def _table(told: Previewed) -> list[str]:
    heads, *rows = columns(told)
    caption = ["", told.caption] if told.caption else []
    return [_row(heads), _row(["---"] * len(heads)), *(_row(r) for r in rows), *caption]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_safe(c).replace("|", "\\|") for c in cells) + " |"


def _folded(sections: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """One line of HTML: a fold counts as one line, however much is in it."""
    parts = []
    for title, texts in sections:
        if texts:
            items = "".join(f"<li>{html.escape(_flat(t))}</li>" for t in texts)
            parts.append(f"<b>{title}</b><ul>{items}</ul>")
    if not parts:
        return []
    return ["", f"<details><summary>More</summary>{''.join(parts)}</details>"]


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _safe(text: str) -> str:
    """No HTML, no mention and no link out of what files say."""
    said = _flat(text).replace("<", "&lt;").replace("@", "@\u200b")
    return re.sub(r"([\[\]`])", r"\\\1", said)
