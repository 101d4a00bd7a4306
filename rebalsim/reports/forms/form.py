"""What a form of output is, and the one table of all of them, which run, report, compare, replay,
observe, check, sweep and preview read.

A command knows its subject and not the forms: it offers an option for each form that can tell it.
Files of forms are read for their options at every start, so what they render with is imported when
it is first used.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from rebalsim.reports import forms

if TYPE_CHECKING:
    from rebalsim.reports.view import View


class Subject(StrEnum):
    """What there is to tell, and as which value."""

    RUNS = "runs"  # rebalsim.reports.report.Report
    CHECK = "check"  # rebalsim.reports.check_report.CheckReport
    SWEEP = "sweep"  # rebalsim.domain.answer.Answer
    PREVIEW = "preview"  # rebalsim.reports.previewed.Previewed


@dataclass(frozen=True, slots=True)
class Rendering:
    """How a form tells one subject."""

    help: str
    render: Callable[[Any, View], str]
    # the variable that names the repository's root, where files are to be named as from there
    root_variable: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """One form. A file's option takes the name to write to; of the others one goes to stdout."""

    name: str  # the option is --NAME
    tells: Mapping[Subject, Rendering]
    is_file: bool = False
    is_json: bool = False  # what a terminal cannot show is escaped as JSON does it

    @property
    def option(self) -> str:
        """The name under which a command receives it."""
        name = self.name.replace("-", "_")
        return name if self.is_file else f"as_{name}"


def rendered_by(module: str) -> Callable[[Any, View], str]:
    """The `render` of that module of this room, which is imported when it is first used."""

    def render(value: Any, view: View) -> str:
        told: str = importlib.import_module(f"rebalsim.reports.{module}").render(value)
        return told

    return render


@cache
def all_forms() -> tuple[Form, ...]:
    """Every form, those for stdout first, each kind by name."""
    found: list[Form] = []
    for module in pkgutil.iter_modules(forms.__path__):
        form = getattr(importlib.import_module(f"{forms.__name__}.{module.name}"), "FORM", None)
        if isinstance(form, Form):
            found.append(form)
    return tuple(sorted(found, key=lambda form: (form.is_file, form.name)))


def forms_of(subject: Subject) -> tuple[Form, ...]:
    """The forms that can tell this subject."""
    return tuple(form for form in all_forms() if subject in form.tells)
