"""A preview as a comment on a pull request: at most forty lines before the rest is folded away."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from rebalsim.reports.preview_to_terminal import columns, difference_told
from rebalsim.reports.previewed import Previewed

MOST_LINES = 40
MARK = "<!-- rebalsim preview -->"  # by which the comment is found again and updated
_SIGNS = {"pass": "✅", "fail": "❌", "inconclusive": "❔"}


def render(told: Previewed) -> str:
    """The comment: verdict, budgets, figures, the worst pauses; everything else is folded."""
    lines = [MARK, f"### {_safe(told.title)}", "", f"**{_safe(told.verdict)}**", ""]
    lines += [
        f"- {_SIGNS.get(c.outcome, '❔')} {_safe(c.name)}: {_safe(c.said)}"
        for c in told.checked[:6]
    ]
    lines += [f"- {_safe(difference_told(d))}" for d in told.differences[:6]]
    lines += [f"- {_safe(n)}" for n in told.notes[:2]]
    lines += ["", *_table(told), ""]
    lines += [f"- {_safe(text)}" for text in told.worst[:2]]
    lines += [f"- 💡 {_safe(text)}" for text in told.advice[:2]]
    folded = _folded(told)
    room = MOST_LINES - 4 - len(folded)
    lines = lines[:room] if len(lines) > room else lines
    return "\n".join([*lines, *folded]) + "\n"


def _table(told: Previewed) -> list[str]:
    heads, *rows = columns(told)
    return [_row(heads), _row(["---"] * len(heads)), *(_row(r) for r in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_safe(c).replace("|", "\\|") for c in cells) + " |"


def _folded(told: Previewed) -> list[str]:
    """One line of HTML: a fold counts as one line, however much is in it."""
    parts = []
    for title, texts in (
        ("What differs", [difference_told(d) for d in told.differences[6:]]),
        ("How it is rolled", list(told.rollouts)),
        ("What stands still longest", list(told.worst[2:])),
        ("Would hurt", list(told.hurts)),
        ("Assumed, until you measure it", list(told.assumed)),
    ):
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
