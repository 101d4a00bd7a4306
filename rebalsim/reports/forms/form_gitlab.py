"""What GitLab shows beside the lines of a merge request."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "gitlab",
    {
        Subject.CHECK: Rendering(
            "GitLab's code quality report.",
            rendered_by("to_gitlab"),
            root_variable="CI_PROJECT_DIR",
        )
    },
    is_file=True,
)
