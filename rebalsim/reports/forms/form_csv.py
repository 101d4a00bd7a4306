"""Comma-separated values: the pauses as a table."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Subject, Telling, rendered_by

FORM = Form("csv", {Subject.RUNS: Telling("The pauses, a row each.", rendered_by("to_csv"))})
