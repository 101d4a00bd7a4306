"""Kubernetes' actions as written → deeds on named consumers. It works on the script's reader, which
keeps the roster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.domain.script import Deed
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.kubernetes import (
    as_bounce,
    read_drain,
    read_evict,
    read_probe,
    read_recreate,
)
from rebalsim.scenario.roster import Roster, Seat

_DEPLOYED = (
    "client",
    "client_version",
    "config",
    "topics",
    "pattern",
    "handler",
    "listener",
    "life",
)


class KubernetesActions:
    """Reads kubectl_rollout, drain_node, evict and probe."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    @property
    def readers(self) -> dict[str, Callable[[Written, int], Deed | None]]:
        return {
            "kubectl_rollout": self._rollout,
            "drain_node": self._drain,
            "evict": self._evict,
            "probe": self._probe,
        }

    def _rollout(self, written: Written, line: int) -> Deed | None:
        found: list[tuple[Roster, Seat]] = self.reader._seats(written, default_all=True)
        if not found:
            return None
        roster, seat = found[0]
        start = self.reader._started(roster, seat).life.start
        start_us = round(start.a if start.shape != "uniform" else (start.a + start.b) / 2)
        deployed = any(key in written for key in _DEPLOYED)
        partition = written.get("partition", 0)
        members = None
        if partition:
            kept = [s for _, s in found][partition:]
            if not kept:
                return None  # ordinals below the partition stay as they are: all of them
            members = tuple((s.name, written.node) for s in kept)
        bounce = as_bounce(written, start_us, members)
        if written.get("type") == "Recreate":
            seats = [s for _, s in found]
            if deployed:
                for one in seats:
                    one.deployed.append(bounce)
            settings = tuple(self.reader._started(roster, s) for s in seats) if deployed else ()
            return read_recreate(written, tuple(s.name for s in seats), settings)
        deed: Deed | None = self.reader._roll(bounce, line, bounce if deployed else None)
        return deed

    def _moved(
        self, written: Written, line: int
    ) -> tuple[Roster, tuple[str, ...], tuple[Any, ...], int] | None:
        """Who is moved, and by whom they are replaced: new names in a Deployment."""
        found: list[tuple[Roster, Seat]] = self.reader._seats(written, together=True)
        if not found:
            return None
        roster = found[0][0]
        replicas = len(roster.running)
        seats = [s for r, s in found if r is roster]
        stand_ins: list[Seat] = []
        if written.get("kind", "Deployment") == "Deployment":
            if not self.reader._has_room(len(seats), written.node):
                return None
            stand_ins = self.reader._replacements(roster, seats, written.node, line)
        specs = tuple(self.reader._started(roster, s) for s in stand_ins)
        return roster, tuple(s.name for s in seats), specs, replicas

    def _drain(self, written: Written, line: int) -> Deed | None:
        moved = self._moved(written, line)
        if moved is None:
            return None
        roster, names, stand_ins, replicas = moved
        return read_drain(written, roster.group, names, stand_ins, replicas)

    def _evict(self, written: Written, line: int) -> Deed | None:
        moved = self._moved(written, line)
        return read_evict(written, moved[1], moved[2]) if moved is not None else None

    def _probe(self, written: Written, line: int) -> Deed | None:
        found: list[tuple[Roster, Seat]] = self.reader._seats(written, default_all=True)
        return read_probe(written, tuple(s.name for _, s in found)) if found else None
