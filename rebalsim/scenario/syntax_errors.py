"""YAML's syntax errors in words that say what to write: a rule for each mistake that people make, and
the first that fits speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from rebalsim.domain.errors import Problem
from rebalsim.scenario.source import Source, shorten


@dataclass(frozen=True, slots=True)
class Flaw:
    """Where the parser stopped, and what it says. It may stop at the start of the next line."""

    error: yaml.MarkedYAMLError
    source: Source
    line: int
    column: int

    @property
    def what(self) -> str:
        return (self.error.problem or "").strip()

    @property
    def context(self) -> str:
        return self.error.context or ""

    @property
    def shown(self) -> str:
        return self.text(self.line)

    def text(self, number: int) -> str:
        lines = self.source.lines
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def here(self, message: str) -> Problem:
        return self.source.problem(self.line, self.column, message)


def syntax_problem(error: yaml.MarkedYAMLError, source: Source) -> Problem:
    """What the first rule that fits says; YAML's own words where none does."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    flaw = Flaw(error, source, line, column)
    for rule in _RULES:
        if (problem := rule(flaw)) is not None:
            return problem
    said = f"{error.context}, {flaw.what}" if error.context else flaw.what
    return flaw.here(f"This is not YAML: {shorten(said, 120)} — see the line shown")


def _near(flaw: Flaw) -> Problem | None:
    """A tab, or a limit without quotes, on the line or the one before."""
    return next((found for n in (flaw.line, flaw.line - 1) if (found := _on(flaw, n))), None)


def _on(flaw: Flaw, number: int) -> Problem | None:
    near = flaw.text(number)
    tab = re.match(r"[ ]*(?=\t)", near)
    if tab and near.strip():
        return flaw.source.problem(
            number,
            tab.end() + 1,
            "A tab indents this line, which YAML does not allow — use spaces",
        )
    compare = re.search(r"[:\-,{\[]\s+(>=?|<=?|==?)\s*[0-9]", near)
    is_block = (
        "block scalar" in flaw.context or "chomping" in flaw.what or "scanning" in flaw.context
    )
    if compare is None or not is_block:
        return None
    limit = shorten(near[compare.start(1) :].rstrip(" }]"), 30)
    return flaw.source.problem(
        number,
        compare.start(1) + 1,
        f'YAML takes the sign for the start of a text block — write the limit in quotes: "{limit}"',
        len(compare.group(1)),
    )


def _open_before(flaw: Flaw) -> Problem | None:
    """A quote that an earlier line leaves open, whatever YAML makes of what follows."""
    if "quoted scalar" in flaw.context:
        return None
    at = _open_quote(flaw.source, flaw.line)
    return flaw.source.problem(*at, _UNCLOSED) if at else None


def _no_mapping_here(flaw: Flaw) -> Problem | None:
    if "mapping values are not allowed" not in flaw.what:
        return None
    source, line = flaw.source, flaw.line
    if (deeper := _indented_too_deep(source, line)) is not None:
        what = "This line is indented deeper than the one above it, which has its value already"
        return source.problem(line, deeper, f"{what} — line the two up")
    filled = (n for n in range(line - 1, 0, -1) if source.lines[n - 1].split("#")[0].strip())
    above = next(filled, 0)
    before = flaw.shown[: flaw.column - 1]
    if above and ":" not in before and ":" not in source.lines[above - 1]:
        end = len(source.lines[above - 1].rstrip()) + 1
        what = "A colon is missing at the end of this name — write `key: value`"
        return source.problem(above, end, what)
    return flaw.here(
        "A second colon makes no sense to YAML here — put the text in quotes, or indent the "
        "line as its neighbours"
    )


def _no_value_begins_so(flaw: Flaw) -> Problem | None:
    if "cannot start any token" not in flaw.what:
        return None
    character = flaw.shown[flaw.column - 1 : flaw.column] or "?"
    if character == "\t":
        return flaw.here(
            "A tab stands here, which YAML does not allow at the start of anything — use spaces"
        )
    return flaw.here(f"A value cannot begin with {character} — put it in quotes")


def _out_of_line(flaw: Flaw) -> Problem | None:
    if not (
        "block end" in flaw.what
        or "block collection" in flaw.context
        or "block mapping" in flaw.context
    ):
        return None
    return flaw.here(
        "This line is indented like none of the lines before it — line it up with the block "
        "it belongs to"
    )


def _no_colon(flaw: Flaw) -> Problem | None:
    if "could not find expected ':'" not in flaw.what:
        return None
    return flaw.here(
        "A colon with a space after it is missing on this line or the one before — write "
        "`key: value`"
    )


def _open_bracket(flaw: Flaw) -> Problem | None:
    if "flow" not in flaw.context and "','" not in flaw.what:
        return None
    began = flaw.error.context_mark
    is_elsewhere = began is not None and began.line + 1 != flaw.line
    opened = began if is_elsewhere else flaw.error.problem_mark or began
    line, column = (opened.line + 1, opened.column + 1) if opened else (flaw.line, flaw.column)
    return flaw.source.problem(
        line,
        column,
        "A list [ ] or block { } is not closed, or a comma is missing — close it, or "
        "separate its parts by commas",
    )


def _open_quote_here(flaw: Flaw) -> Problem | None:
    if "quoted scalar" not in flaw.context:
        return None
    began = flaw.error.context_mark or flaw.error.problem_mark
    line, column = (began.line + 1, began.column + 1) if began else (flaw.line, flaw.column)
    return flaw.source.problem(line, column, _UNCLOSED)


_RULES: tuple[Callable[[Flaw], Problem | None], ...] = (
    _near,
    _open_before,
    _no_mapping_here,
    _no_value_begins_so,
    _out_of_line,
    _no_colon,
    _open_bracket,
    _open_quote_here,
)


_UNCLOSED = (
    "The quotes opened here are not closed, or an escape in them is unknown — close them, or use "
    "single quotes"
)
_VALUE = re.compile(r"^[ ]*(?:- )?[^\s#:'\"][^:#'\"]*:[ ]+(['\"])")


def _open_quote(source: Source, until: int) -> tuple[int, int] | None:
    """Where a quoted value begins that its line does not close: whatever YAML makes of what comes
    after it, that is where the mistake is.
    """
    for number, text in enumerate(source.lines[:until], 1):
        found = _VALUE.match(text)
        if found and text.count(found[1], found.start(1)) == 1:
            return number, found.start(1) + 1
    return None


def _indented_too_deep(source: Source, line: int) -> int | None:
    """The column of a line that stands deeper than the line above, though that has a value."""
    above = next((t for t in reversed(source.lines[: line - 1]) if t.split("#")[0].strip()), "")
    shown = source.lines[line - 1] if line <= len(source.lines) else ""
    indents = [len(t) - len(t.lstrip(" ")) for t in (above, shown)]
    has_value = re.match(r"[ ]*(?:- )?[^:#]+:[ ]+[^\s#|>]", above)
    is_key = re.match(r"[ ]*[^:#\s]+:(?:\s|$)", shown)
    return indents[1] + 1 if has_value and is_key and indents[1] > indents[0] else None
