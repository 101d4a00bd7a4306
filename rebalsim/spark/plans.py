"""Where plans come from: a file, or a stock plan's name; and their scenarios, beside the plan or
among the stock stories.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rebalsim.domain.errors import InputError, ProblemsError
from rebalsim.domain.sweep import Axis, Base, Plan, Step
from rebalsim.outside.files import read_bytes
from rebalsim.scenario import load
from rebalsim.scenario.document import MAX_BYTES, decode
from rebalsim.scenario.load import code_folder, story_of
from rebalsim.scenario.plan import parse_plan, problems_of_axis
from rebalsim.scenario.source import shorten
from rebalsim.scenario.story import Story
from rebalsim.spark.schemas import reserved_names
from rebalsim.words.nearest import or_nearest

_TRIED = 200  # values of one axis that are tried alone before a sweep begins


def stock_plans() -> dict[str, Path]:
    """The plans that ship with rebalsim, by name."""
    package = Path(load.__file__).resolve().parent.parent
    for folder in (package / "stock" / "sweeps", package.parent / "scenarios" / "sweeps"):
        if folder.is_dir():
            return {p.stem: p for p in sorted(folder.glob("*.yaml"))}
    return {}


def load_plan(path_or_name: str | Path, allow_code: bool = False) -> Plan:
    """The plan in this file or of this name, checked; ProblemsError has everything that is wrong
    with it. `allow_code`: its scenarios may run assignors of one's own.
    """
    path = Path(path_or_name)
    if not path.exists() or path.is_dir():
        stock = stock_plans()
        if path.is_dir():
            raise InputError(f"{path} is a folder — name a plan file in it.")
        if str(path_or_name) not in stock:
            hint = or_nearest(path.stem, stock, "a plan is a file that names a scenario and axes")
            raise InputError(
                f"There is no file and no stock plan '{shorten(str(path_or_name))}' — {hint}"
            )
        path = stock[str(path_or_name)]
    raw = read_bytes(path, MAX_BYTES)
    name = str(path_or_name) if path == Path(path_or_name) else path.name
    text, problems = decode(raw, name)
    if problems:
        raise ProblemsError(tuple(problems))
    plan = parse_plan(text, name, lambda base: find_base(base, path.parent), reserved_names())
    plan = replace(plan, code_from=code_folder(allow_code))
    check_plan(plan)
    return plan


def find_base(name: str, folder: Path) -> Base:
    """The scenario that a plan in this folder calls by this name. LookupError says why there is
    none.
    """
    for candidate in (folder / name, folder / f"{name}.yaml"):
        try:
            is_there = candidate.is_file()
        except (OSError, ValueError):  # a name too long, or with a nought in it
            raise LookupError(f"'{shorten(name)}' is no file name") from None
        if is_there:
            return _base(name, candidate)
    try:
        return _base(name, load.find_story(name))
    except InputError as e:
        raise LookupError(str(e)) from None


def _base(name: str, path: Path) -> Base:
    text, problems = decode(read_bytes(path, MAX_BYTES), str(path))
    if problems:
        raise LookupError(problems[0].message)
    return Base(Path(name).stem, str(path), text, name)


def story_of_base(base: Base, code_from: str) -> Story:
    return story_of(base.text.encode(), base.file, code_from=code_from)


def check_plan(plan: Plan) -> None:
    """Ask the base scenarios what they say to each axis' values, one at a time, and to the
    plan's variants.
    """
    for base in plan.bases:
        story = story_of_base(base, plan.code_from).check()
        for axis in plan.every_axis:
            steps = axis.steps if isinstance(axis, Axis) else (_a_sample(plan, axis.name),)
            for step in (*steps[:_TRIED], *steps[_TRIED:][-1:]):
                # Only what cannot be read: what cannot go together hangs on the other axes, and
                # becomes a row with its error.
                unreadable = story.with_overrides(
                    [f"{p}={v}" for p, v in (*plan.settings, *step.settings)]
                )._problems.errors
                if unreadable:
                    raise problems_of_axis(plan, axis, unreadable[:1])
        for variant in plan.variants:
            if variant not in story.variants:
                raise InputError(
                    f"{plan.file}: the scenario {base.name} has no variant '{variant}' — "
                    f"{or_nearest(variant, story.variants)}"
                )
        for budget in plan.budgets:
            if budget.relative_to == "baseline":
                raise InputError(
                    f"{plan.file}:{budget.line}:{budget.column}: a sweep has no baseline — "
                    "compare with a variant, or write an amount"
                )


def _a_sample(plan: Plan, name: str) -> Step:
    from rebalsim.spark.points import Points

    points = Points(plan)
    sampled = next(a for a in plan.sampled if a.name == name)
    text = points.labels(0)[name]
    return Step(text, ((sampled.path, text),))
