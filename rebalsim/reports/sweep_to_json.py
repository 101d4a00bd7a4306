"""A sweep's answer as one JSON document: the same value, names as in the tables, times in µs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rebalsim.domain.answer import Answer
from rebalsim.domain.metrics import METRICS

SCHEMA_VERSION = 1


def sweep_document(answer: Answer) -> dict[str, Any]:
    document = asdict(answer)
    for name in ("shown", "curves", "heat", "show"):
        del document[name]
    units = {
        m: METRICS[m].unit
        for m in sorted({name: None for p in answer.best[:1] for name in p.metrics})
    }
    return {"schema_version": SCHEMA_VERSION, "kind": "sweep", **document, "units": units}


def render(answer: Answer) -> str:
    return json.dumps(sweep_document(answer), ensure_ascii=False, indent=2) + "\n"
