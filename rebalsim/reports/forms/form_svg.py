"""A picture of a sweep."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "svg",
    {
        Subject.SWEEP: Rendering(
            "Write the heat map alone as a picture: over the plan's two axes, every variant.",
            rendered_by("sweep_to_svg"),
        )
    },
    is_file=True,
)
