"""A timeline for ui.perfetto.dev."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "perfetto",
    {
        Subject.RUNS: Rendering(
            "Chrome trace-event JSON, for ui.perfetto.dev.", rendered_by("to_perfetto")
        )
    },
    is_file=True,
)
