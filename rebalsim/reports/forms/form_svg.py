"""A picture of a sweep."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Subject, Telling, rendered_by

FORM = Form(
    "svg",
    {
        Subject.SWEEP: Telling(
            "Write the heat map alone as a picture: over the plan's two axes, every variant.",
            rendered_by("sweep_to_svg"),
        )
    },
    is_file=True,
)
