"""Metrics as a monitoring system reads them."""

from __future__ import annotations

from rebalsim.reports.forms.form import Form, Rendering, Subject, rendered_by

FORM = Form(
    "openmetrics",
    {Subject.RUNS: Rendering("Metrics, named as Kafka's.", rendered_by("to_openmetrics"))},
    is_file=True,
)
