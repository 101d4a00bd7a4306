"""Markdown, for a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

if TYPE_CHECKING:
    from rebalsim.reports.report import Report
    from rebalsim.reports.view import View


def _of_runs(report: Report, view: View) -> str:
    from rebalsim.reports.to_markdown import render

    return render(report, view)


FORM = Form(
    "markdown",
    {
        Subject.RUNS: Rendering("For a pull request.", _of_runs),
        Subject.CHECK: Rendering(
            "For a pull request, instead of text.", rendered_by("check_to_markdown")
        ),
        Subject.SWEEP: Rendering("Print the answer as Markdown.", rendered_by("sweep_to_markdown")),
        Subject.PREVIEW: Rendering(
            "A pull request's comment instead.", rendered_by("preview_to_markdown")
        ),
    },
)
