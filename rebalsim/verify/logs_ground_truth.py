"""What truly happened in a recorded set of logs, as the applications and the brokers' request log
saw it (`truth.json`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.trace.gzipped import text_of

NEAR_MS = 50
Document = dict[str, Any]


@dataclass(slots=True)
class GroundTruth:
    """A set's truth, with everything that is needed to hold a reading against it."""

    document: Document
    names: dict[str, str] = field(default_factory=dict)  # whatever names a member → its name
    logged: dict[str, int] = field(default_factory=dict)  # member → its log's resolution, ms
    cut: dict[str, int] = field(default_factory=dict)  # member → where its log begins
    owner: dict[str, str] = field(default_factory=dict)  # member → group
    has_broker: bool = False

    @property
    def t0(self) -> int:
        return int(self.document["t0"])

    @property
    def end(self) -> int:
        return int(self.document["end"])

    def member(self, name: object) -> str | None:
        """The member that a name stands for; a name that stands for none is kept, and marked."""
        if name is None:
            return None
        text = str(name)
        return self.names.get(text) or self.names.get(text.split("#")[-1]) or f"?{text}"

    def is_logged(self, member: str | None) -> bool:
        return (member or "").split("/")[0] in self.logged

    def is_seen(self, member: str, at: int) -> bool:
        """Whether the member's log reaches back to this moment."""
        return self.is_logged(member) and at >= self.cut.get(member.split("/")[0], -1 << 60)

    def tolerance(self, *members: str | None) -> int:
        """How near is right: 50 ms, or these logs' own resolution beyond."""
        steps = [self.logged.get((m or "").split("/")[0], 0) for m in members]
        return NEAR_MS + max([0, *steps])

    def skews(self) -> list[int]:
        """How far any one of the brokers' clocks was ahead: an answer by any of them counts."""
        files = [h for f in self.document["files"].values() for h in f.get("holds", [f])]
        found = {0} | {int(h.get("skew_ms", 0)) for h in files if "broker" in h}
        return sorted(found, key=abs)


def read_truth(folder: Path) -> GroundTruth:
    """What really happened, from the file that stands beside a set's logs."""
    path = next((p for p in (folder / "truth.json", folder / "truth.json.gz") if p.exists()), None)
    if path is None:
        raise InputError(f"{folder}: holds no truth.json — give a recorded set of logs")
    try:
        truth = GroundTruth(json.loads(text_of(path)))
        _name_files(truth)
        _name_members(truth)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise InputError(f"{path}: is not the truth of a set of logs ({e!r})") from None
    return truth


def _name_files(truth: GroundTruth) -> None:
    for path, meta in truth.document["files"].items():
        for held in meta.get("holds", [meta]):
            truth.has_broker = truth.has_broker or "broker" in held
            if "member" in held:
                step = int(held.get("resolution_ms") or 0)
                truth.logged[held["member"]] = max(step, truth.logged.get(held["member"], 0))
        if "begins_at" in meta:
            truth.cut[meta["member"]] = meta["begins_at"]
        if "member" in meta:
            for name in _names_of(path):
                truth.names.setdefault(name, meta["member"])


def _names_of(path: str) -> Iterator[str]:
    yield path
    yield path.rpartition("/")[2]
    yield path.removesuffix(".gz").removesuffix(".zst")
    parts = path.split("/")
    if parts[0] == "pods":
        yield parts[1]
        yield parts[1].split("_")[1]


def _name_members(truth: GroundTruth) -> None:
    instances: dict[str, set[str]] = {}
    for group, meta in truth.document["groups"].items():
        for member, own in meta["members"].items():
            truth.names[member], truth.owner[member] = member, group
            conf = {**meta.get("conf", {}), **own.get("conf", {})}
            if conf.get("group.instance.id"):
                instances.setdefault(conf["group.instance.id"], set()).add(member)
    for event in truth.document["events"]:
        truth.names.setdefault(event["member"], event["member"])
    for member_id, told in truth.document["ids"].items():
        truth.names[member_id] = told["member"]
    for instance, members in instances.items():
        if len(members) == 1:
            truth.names.setdefault(instance, next(iter(members)))
