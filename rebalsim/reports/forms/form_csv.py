"""Comma-separated values: the pauses as a table."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form("csv", {Subject.RUNS: Rendering("The pauses, a row each.", rendered_by("to_csv"))})
