"""A check as GitHub's workflow commands: an annotation on the line of each broken budget.

GitHub shows ten errors and ten warnings of a step and drops the rest in silence; so the tenth
says how many more there are. Names are hostile text: whatever could end a command, or begin one,
is escaped.
"""

from __future__ import annotations

from rebalsim.domain.errors import Problem
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.baseline_told import tell_regression
from rebalsim.reports.check_report import Checked, CheckReport, StoryChecked
from rebalsim.reports.names import safe
from rebalsim.reports.verdict_told import say_against

MOST = 10
_LONGEST = 4_000


def _add(story: StoryChecked, errors: list[str], warnings: list[str]) -> None:
    for p in story.problems:
        (warnings if p.is_warning else errors).append(_problem(p, story))
    if story.bug:
        why = f"rebalsim contradicts itself: {story.bug}"
        errors.append(command("error", why, file=story.file, title="bug in rebalsim"))
    for c in story.checked:
        if c.is_broken or c.is_open:
            errors.append(_annotation("error", c))
        elif c.outcome is not Outcome.PASS:
            warnings.append(_annotation("warning", c))
    if not story.has_budgets and not story.problems:
        why = "This scenario has no budgets, so nothing in it can fail"
        warnings.append(command("warning", why, file=story.file, line=1, title="no budgets"))


def render(report: CheckReport) -> str:
    """The commands, a line each; nothing where all is well."""
    errors: list[str] = []
    warnings: list[str] = []
    for story in report.stories:
        _add(story, errors, warnings)
    errors += [command("error", problem) for problem in report.problems]
    compared = report.comparison
    for change in compared.changes if compared is not None else ():
        if compared is not None and compared.is_too_much(change):
            said, line = tell_regression(change, compared), compared.line_of(change)
            errors.append(command("error", said, file=change.file, line=line, title="regression"))
    return "".join(
        f"{line}\n" for line in (*_bounded("error", errors), *_bounded("warning", warnings))
    )


def _problem(p: Problem, story: StoryChecked) -> str:
    if p.file == "--set":
        return command("error", f"--set: {p.message}", file=story.file, line=1, title="--set")
    kind = "warning" if p.is_warning else "error"
    return command(kind, p.message, file=p.file, line=p.line, column=p.column, title="scenario")


def _annotation(level: str, c: Checked) -> str:
    state = "is undecided" if c.outcome is Outcome.INCONCLUSIVE else "is broken"
    parts = (f"{say_against(c)}.", c.because, c.hint, f"Again: {c.again}")
    return command(
        level,
        " ".join(p for p in parts if p),
        file=c.file,
        line=c.line,
        column=c.column,
        title=f"{c.variant}: {c.name} {state}",
    )


def _bounded(level: str, lines: list[str]) -> list[str]:
    if len(lines) <= MOST:
        return lines
    return [
        *lines[: MOST - 1],
        command(
            level,
            f"and {len(lines) - MOST + 1} more of rebalsim's {level}s: the job's log and its "
            "summary have all of them",
        ),
    ]


def command(
    level: str, message: str, file: str = "", line: int = 0, column: int = 0, title: str = ""
) -> str:
    """One workflow command."""
    properties = [
        ("file", file),
        ("line", str(line) if line else ""),
        ("col", str(column) if column else ""),
        ("title", title),
    ]
    told = ",".join(f"{name}={_property(value)}" for name, value in properties if value)
    return f"::{level}{' ' + told if told else ''}::{_data(message)}"


def _data(text: str) -> str:
    return _shown(text)[:_LONGEST].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _shown(text: str) -> str:
    return "\n".join(safe(line) for line in text.split("\n"))
