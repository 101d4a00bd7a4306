"""One JSON document, for programs."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "json",
    {
        Subject.RUNS: Rendering(
            "One JSON document; `rebalsim schema --result` prints its schema.",
            rendered_by("to_json"),
        ),
        Subject.CHECK: Rendering(
            "One JSON document instead of text.", rendered_by("check_to_json")
        ),
        Subject.SWEEP: Rendering("Print the answer as JSON.", rendered_by("sweep_to_json")),
        Subject.PREVIEW: Rendering(
            "One JSON object instead of text.", rendered_by("preview_to_json")
        ),
    },
    is_json=True,
)
