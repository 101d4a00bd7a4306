"""A plan as one JSON text that needs no files: what travels to workers, what a sweep's folder
keeps, what `replay` reads years later.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from rebalsim import __version__
from rebalsim.domain.errors import InputError
from rebalsim.domain.sweep import Base, Plan
from rebalsim.scenario.grid import Order
from rebalsim.scenario.plan import parse_plan
from rebalsim.spark.schemas import reserved_names, run_columns

SCHEMA_VERSION = 2  # 1 did not say which columns its runs have


def bundle_of(plan: Plan) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "rebalsim": __version__,
        "columns": [column.name for column in run_columns(plan)],
        "file": plan.file,
        "plan": plan.text,
        "scenarios": [
            {"name": b.name, "written": b.written, "file": b.file, "text": b.text}
            for b in plan.bases
        ],
    }


def plan_of(bundle: dict[str, Any], code_from: str = "") -> Plan:
    """The plan of a bundle; the same one, whatever has become of the files since. `code_from`: the
    folder of own assignors, which no bundle says by itself: it may be a stranger's.
    """
    if bundle.get("schema_version") not in (1, SCHEMA_VERSION):
        raise InputError(
            f"This sweep was written by rebalsim {bundle.get('rebalsim', '?')} in another format "
            f"than this one, {__version__}, reads — read it with that version."
        )
    bases = {
        b["written"] or b["name"]: Base(b["name"], b["file"], b["text"], b["written"])
        for b in bundle["scenarios"]
    }
    plan = parse_plan(bundle["plan"], bundle["file"], lambda name: bases[name], reserved_names())
    return replace(plan, code_from=code_from)


def refuse_to_go_on(bundle: dict[str, Any], plan: Plan, out: str) -> None:
    """InputError where another rebalsim began this sweep: its rows would not be those of this one."""
    now = bundle_of(plan)
    if all(bundle.get(key) == now[key] for key in ("schema_version", "rebalsim", "columns")):
        return
    began = bundle.get("rebalsim", "?")
    which = f"rebalsim {began}" if began != __version__ else f"an older state of rebalsim {began}"
    raise InputError(
        f"The sweep in {out} was begun by {which}, and this one, {__version__}, plays and keeps "
        "other rows — continue it with that one, or begin anew with --overwrite."
    )


def order_as_json(order: Order) -> dict[str, Any]:
    """An axis whose values cost all the same is told by their number alone: axes may be long."""
    return {
        "radices": list(order.radices),
        "seeds": order.seeds,
        "unit": order.unit,
        "costs": [list(c) if max(c) > min(c) else len(c) for c in order.costs],
    }


def order_from_json(document: dict[str, Any]) -> Order:
    costs = tuple(
        (1.0,) * c if isinstance(c, int) else tuple(float(x) for x in c) for c in document["costs"]
    )
    return Order(tuple(document["radices"]), int(document["seeds"]), costs, float(document["unit"]))


def dumps(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)
