"""`observe --follow`: the logs read again as they grow, and each new rebalance told once."""

from __future__ import annotations

import time
from pathlib import Path

import click

from rebalsim.cli import exits, terminal

EVERY_S = 1.0


def follow_logs(logs: tuple[str, ...], group: str, most: int | None = None) -> int:
    """Tell what is there, then what comes, until interrupted (or so many times)."""
    from rebalsim.reports.observed import namer, round_told
    from rebalsim.worlds.logs.observation import observe
    from rebalsim.worlds.logs.sources import sources_in

    told: set[tuple[str, int, int]] = set()
    sizes: dict[str, int] = {}
    turns = 0
    while most is None or turns < most:
        turns += 1
        now = _sizes(logs)
        if now != sizes:
            sizes = now
            observed = observe(sources_in(logs), "")
            for story in observed.groups.values():
                name = namer(story)
                for r in story.rounds if not group or story.name == group else ():
                    key = (story.name, r.generation, r.begin_us)
                    if key not in told and (r.end_us >= 0 or r.over_us >= 0 or r.is_epoch):
                        told.add(key)
                        click.echo(terminal.as_told(f"{story.name}  {round_told(r, name)}"))
        time.sleep(EVERY_S if most is None else 0)
    return exits.WITHIN


def _sizes(logs: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for name in logs:
        path = Path(name)
        files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
        for p in files:
            if p.exists():
                found[str(p)] = p.stat().st_size
    return found
