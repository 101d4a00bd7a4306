"""A preview as one JSON object."""

from __future__ import annotations

import json
from dataclasses import asdict

from rebalsim.reports.previewed import Previewed


def render(told: Previewed) -> str:
    document = {"schema_version": 1, "verdict": told.verdict, **asdict(told)}
    document.pop("page")
    document.pop("seconds")
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
