"""`rebalsim lint FILE…`: everything that is wrong with scenarios, and the settings in them that
will hurt.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from rebalsim.cli import exits
from rebalsim.cli.options import advise_option, allow_code_option, scenarios_argument, set_option
from rebalsim.domain.errors import InputError, Problem, ProblemsError


@click.command("lint", epilog="Example: rebalsim lint scenarios/*.yaml")
@scenarios_argument
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
@click.option("--strict", is_flag=True, help="Warnings too end with exit code 1.")
@set_option
@advise_option(50_000, "How many events a file may be played to try what a warning says to write.")
@allow_code_option
def command(
    scenarios: tuple[str, ...],
    as_json: bool,
    strict: bool,
    overrides: tuple[str, ...],
    advise: int | None,
    allow_code: bool,
) -> int:
    """Find mistakes in scenarios and plans, and settings that will hurt.

    Every mistake is told at once, each on its line. A warning names its rule: `rebalsim explain
    RULE` says why and what to do. Exit 2: a scenario is wrong; 1: there are warnings and
    --strict was asked for; 0: otherwise.

    It reads and does not judge: `check` plays scenarios and holds them to their budgets, `show`
    prints what one means.
    """
    codes: list[int] = []
    told: list[tuple[str, Sequence[Problem]]] = []
    for scenario in _files(scenarios):
        problems: Sequence[Problem]
        try:
            problems = problems_of(scenario, overrides, allow_code)
        except InputError as e:
            problems = (
                e.problems if isinstance(e, ProblemsError) else (Problem(scenario, 1, 1, str(e)),)
            )
        told.append((scenario, problems))
        has_errors = any(not p.is_warning for p in problems)
        codes.append(
            exits.INVALID if has_errors else exits.BROKEN if problems and strict else exits.WITHIN
        )
    if as_json:
        click.echo(
            json.dumps(
                {
                    "schema_version": 1,
                    "files": [_document(name, problems) for name, problems in told],
                },
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        for name, problems in told:
            tried = _tried(name, problems, overrides, allow_code, advise)
            for problem in problems:
                click.echo(str(problem))
                for said in tried.get(problem, ()):
                    click.echo(f"  → {said}")
        click.echo(_summary(told), err=True)
    return exits.gravest(codes)


def _tried(
    name: str,
    problems: Sequence[Problem],
    overrides: Sequence[str],
    allow_code: bool,
    events: int | None,
) -> dict[Problem, list[str]]:
    """What each warning's own advice comes to in this story, in each variant that it is for, where it
    can be played.
    """
    asked = [p for p in problems if p.fix]
    if not asked or events == 0 or name == "-" or any(not p.is_warning for p in problems):
        return {}
    from rebalsim.advice.fixes import EVENTS, try_fix
    from rebalsim.advice.trial import Purse
    from rebalsim.cli.options import load_story
    from rebalsim.reports.remedies_told import tell_fix

    story = load_story(name, overrides, allow_code)
    limit = EVENTS if events is None else events
    found: dict[Problem, list[str]] = {}
    for problem in asked:
        for variant in problem.fix_variants:
            tried = try_fix(story, variant, problem.fix, Purse(limit // len(asked)))
            if tried is not None:
                found.setdefault(problem, []).append(tell_fix(problem.fix, variant, tried))
    return found


def _files(named: Sequence[str]) -> list[str]:
    """The files that are meant: of a folder all scenarios and plans below it."""
    from pathlib import Path

    found: dict[str, None] = {}
    for name in named:
        try:
            is_folder = bool(name) and Path(name).is_dir()
        except (OSError, ValueError):
            is_folder = False
        if not is_folder:
            found[name] = None
            continue
        from rebalsim.check.find import find_files

        inside = find_files([name])
        found.update(dict.fromkeys(sorted((*inside.files, *inside.plans))))
    return list(found)


def problems_of(scenario: str, overrides: Sequence[str], allow_code: bool) -> tuple[Problem, ...]:
    """The loader's problems; and where there are none but warnings, the rules' too. A plan has
    its loader's alone.
    """
    from rebalsim.scenario.load import read_bytes, story_of
    from rebalsim.scenario.problems import in_order

    name, raw = read_bytes(scenario)
    if _is_plan(raw):
        from rebalsim.spark.plans import load_plan

        load_plan(scenario, allow_code)
        return ()
    story = story_of(raw, name, overrides, allow_code)
    problems = story.problems()
    if any(not p.is_warning for p in problems):
        return problems
    from rebalsim.lint.registry import check

    return in_order([*problems, *check(story)])


def _is_plan(raw: bytes) -> bool:
    """A plan has axes; its text may be broken in any way, which is for its own loader to say."""
    return raw.startswith(b"axes:") or b"\naxes:" in raw


def _summary(told: list[tuple[str, Sequence[Problem]]]) -> str:
    errors = sum(not p.is_warning for _, problems in told for p in problems)
    warnings = sum(p.is_warning for _, problems in told for p in problems)
    files = f"{len(told)} file{'s' if len(told) != 1 else ''}"
    if not errors and not warnings:
        return f"{files}: nothing to say."
    said = [
        f"{n} {word}{'s' if n != 1 else ''}"
        for n, word in ((errors, "error"), (warnings, "warning"))
        if n
    ]
    hint = " `rebalsim explain RULE` says more of a warning." if warnings else ""
    return f"{files}: {', '.join(said)}.{hint}"


def _document(name: str, problems: Sequence[Problem]) -> dict[str, object]:
    return {
        "file": name,
        "ok": not any(not p.is_warning for p in problems),
        "problems": [
            {
                "line": p.line,
                "column": p.column,
                "level": "warning" if p.is_warning else "error",
                "rule": p.rule,
                "message": p.message,
                "source": p.source,
            }
            for p in problems
        ],
    }
