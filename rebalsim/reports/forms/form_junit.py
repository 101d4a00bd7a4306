"""Test results, as most CI systems show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim import __version__
from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

if TYPE_CHECKING:
    from rebalsim.reports.previewed import Previewed
    from rebalsim.reports.view import View


def _of_preview(told: Previewed, view: View) -> str:
    from rebalsim.reports.to_junit import render

    return render(told.as_check(__version__))


FORM = Form(
    "junit",
    {
        Subject.CHECK: Rendering("JUnit XML: a case a budget.", rendered_by("to_junit")),
        Subject.PREVIEW: Rendering("Write the budgets as JUnit XML.", _of_preview),
    },
    is_file=True,
)
