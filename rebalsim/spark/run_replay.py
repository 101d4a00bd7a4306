"""Any run of a sweep, played again from the sweep's folder alone, and held to its row field by
field.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.domain.scenario import Scenario
from rebalsim.one_run import Run, run_once
from rebalsim.outside.documents import parse_json
from rebalsim.outside.files import read_text
from rebalsim.spark.bundle import plan_of
from rebalsim.spark.player import Player, parse_run_name
from rebalsim.spark.schemas import run_columns


@dataclass(slots=True)
class Again:
    """A run of a sweep that was played again. `differing`: columns whose values are not those of
    the row.
    """

    name: str
    player: Player
    point: int
    variant: str
    seed: int
    row: dict[str, Any]
    differing: tuple[str, ...]
    scenario: Scenario | None = None
    run: Run | None = None


def is_local(out: str) -> bool:
    return "://" not in out or out.startswith("file:")


def local_path(out: str) -> Path:
    return Path(out.removeprefix("file://").removeprefix("file:"))


def read_manifest(out: str) -> dict[str, Any]:
    """What the sweep's folder says about itself; without Spark where the folder is here."""
    path = local_path(out) / "sweep.json"
    try:
        is_there = path.exists()
    except OSError:
        is_there = False
    if not is_there:
        raise InputError(f"{out} holds no sweep: there is no sweep.json in it.")
    found = parse_json(read_text(path), str(path))
    if type(found) is not dict:
        raise InputError(f"{path} is damaged: it is no sweep's manifest.")
    document: dict[str, Any] = found
    return document


def read_row(out: str, name: str) -> dict[str, Any]:
    """The run's row, from the Parquet files of a folder that is here."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    folders = sorted(
        p for p in (local_path(out) / "runs").glob("chunk=*") if (p / "_SUCCESS").exists()
    )
    for folder in folders:
        files = [str(f) for f in sorted(folder.glob("*.parquet"))]
        try:
            found = (
                ds.dataset(files, format="parquet").to_table(filter=ds.field("run") == name)
                if files
                else None
            )
        except (OSError, pa.ArrowException) as e:
            raise InputError(f"{folder} cannot be read: {e}.") from None
        if found is not None and found.num_rows:
            row: dict[str, Any] = found.to_pylist()[0]
            return row
    raise InputError(
        f"The sweep in {out} has no run '{name}' — the column `run` of its table `runs` names them."
    )


def play_again(
    manifest: dict[str, Any], name: str, row: dict[str, Any], code_from: str = ""
) -> Again:
    """Play the run and compare every column. `code_from`: the folder of own assignors; empty: none
    is run.
    """
    plan = plan_of(manifest, code_from)
    point, variant, seed = parse_run_name(name)
    if not 0 <= point < plan.points or not plan.first_seed <= seed < plan.first_seed + plan.seeds:
        raise InputError(
            f"The sweep has no run '{name}': it has the points 0 … {plan.points - 1:,} and the "
            "seeds "
            f"{plan.first_seed} … {plan.first_seed + plan.seeds - 1}."
        )
    player = Player(plan)
    mine = next((r for r in player.play(point, seed) if r["variant"] == variant), None)
    if mine is None:
        raise InputError(f"The sweep does not play the variant '{variant}' at point {point}.")
    if mine["error_kind"] == "impossible" and row.get("error_kind") is None:
        raise InputError(str(mine["error"]))
    columns = [*(c.name for c in run_columns(plan)), "budgets"]
    again = Again(
        name, player, point, variant, seed, row, tuple(c for c in columns if mine[c] != row.get(c))
    )
    if mine["error_kind"] is None:
        again.scenario = player.scenario(point, variant)
        again.run = run_once(again.scenario, seed)
    return again
