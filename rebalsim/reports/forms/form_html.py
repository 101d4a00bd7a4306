"""A page that needs nothing else: no network, no other file."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "html",
    {
        Subject.RUNS: Rendering("One self-contained page.", rendered_by("to_html")),
        Subject.CHECK: Rendering("One self-contained page over all.", rendered_by("check_to_html")),
        Subject.SWEEP: Rendering(
            "Write the answer as one self-contained page.", rendered_by("sweep_to_html")
        ),
        Subject.PREVIEW: Rendering("Write a page.", rendered_by("preview_to_html")),
    },
    is_file=True,
)
