"""Answers of Connect's assignors: each chain of rounds is played by ours, and every answer held
against Connect's.

Every worker has a memory of its own, named by the part of its id before the first hyphen; a
worker that restarted begins with an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rebalsim.assignors.connect import eager, incremental
from rebalsim.assignors.connect.memory import NOTHING_REMEMBERED, Memory
from rebalsim.assignors.connect.round import Answer, ConfigSnapshot, WorkerClaim
from rebalsim.assignors.connect.work import Work, task_named
from rebalsim.outside.documents import parse_json
from rebalsim.trace.gzipped import lines_of
from rebalsim.verify.finding import Cases, Finding, asked_of, over_files

KIND = "connect-assignors"
_PARTS = ("connectors", "tasks", "revoked_connectors", "revoked_tasks")


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Hold every round of the file against our assignors; the first `differences` differing ones
    are told in full.
    """
    held = Cases(differences)
    for line, number, step, ours in _rounds(path):
        held.count += 1
        said, our = _said(step), _plain(ours)
        if said != our:
            asked = {"line": line, "step": number, "why": step["why"]}
            told = _told(line, number, step, said, our)
            held.differs({**asked, "kafka": said, "ours": our}, told)
    return held.finding(path, KIND, "rounds identical to Kafka Connect's")


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all the files."""
    return over_files(findings, KIND, "rounds", "Kafka Connect's")


def _rounds(path: Path) -> Iterator[tuple[int, int, dict[str, Any], Answer]]:
    """Line (from 1), round within the line (from 1), the round as recorded, our answer."""
    for line, text in enumerate(lines_of(path), 1):
        if not text.strip():
            continue
        place = f"{path}:{line}"
        with asked_of("Connect's assignors", f"{place}: the chain"):
            chain = parse_json(text, place)
            player, steps = _Player(chain), list(chain["steps"])
        for number, step in enumerate(steps, 1):
            with asked_of("Connect's assignors", f"{place}: round {number}"):
                ours = player.answer(step)
                _said(step)
            yield line, number, step, ours


class _Player:
    """One chain of rounds, with the memories of all its workers."""

    def __init__(self, chain: Mapping[str, Any]) -> None:
        self.is_eager = {"eager": True, "incremental": False}[chain["assignor"]]
        self.max_delay_ms = 0 if self.is_eager else int(chain["scheduled.rebalance.max.delay.ms"])
        self.memories: dict[str, Memory] = {}

    def answer(self, step: Mapping[str, Any]) -> Answer:
        claims = [
            WorkerClaim(
                member["id"],
                int(member["offset"]),
                Work(
                    tuple(member.get("connectors", ())),
                    tuple(map(task_named, member.get("tasks", ()))),
                ),
            )
            for member in step["members"]
        ]
        config = {str(name): int(tasks) for name, tasks in step["config"].items()}
        taken = ConfigSnapshot(int(step["leader_offset"]), config)
        fresh = ConfigSnapshot(int(step["fresh_offset"]), config)
        if self.is_eager:
            return eager.assign(claims, taken, fresh)
        for why in step["why"]:
            if why.endswith(" restarted"):
                self.memories.pop(why.removesuffix(" restarted"), None)
        leader = step["leader"].partition("-")[0]
        ours, self.memories[leader] = incremental.assign(
            claims,
            taken,
            self.memories.get(leader, NOTHING_REMEMBERED),
            incremental.Generations(int(step["generation"]), int(step["last_completed"])),
            int(step["now"]),
            self.max_delay_ms,
            fresh,
        )
        return ours


def _said(step: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded answer; lists are compared as sets, but twice is not once."""
    return {
        "error": step["error"],
        "offset": step["offset"],
        "delay": step.get("delay", 0),
        "assignment": {
            worker: {part: sorted(map(str, share.get(part, ()))) for part in _PARTS}
            for worker, share in step["assignment"].items()
        },
    }


def _plain(answer: Answer) -> dict[str, Any]:
    return {
        "error": int(answer.is_config_mismatch),
        "offset": answer.offset,
        "delay": answer.delay_ms,
        "assignment": {
            worker: {
                "connectors": sorted(share.given.connectors),
                "tasks": sorted(map(str, share.given.tasks)),
                "revoked_connectors": sorted(share.revoked.connectors),
                "revoked_tasks": sorted(map(str, share.revoked.tasks)),
            }
            for worker, share in answer.shares.items()
        },
    }


def _told(
    line: int, number: int, step: Mapping[str, Any], said: dict[str, Any], ours: dict[str, Any]
) -> list[str]:
    """A round as people read it: why it was, and where the two answers differ."""
    lines = [f"line {line}, round {number} ({', '.join(map(str, step['why']))})"]
    for part in ("error", "offset", "delay"):
        if said[part] != ours[part]:
            lines.append(f"  {part}: Kafka {said[part]}, ours {ours[part]}")
    for worker in dict.fromkeys([*said["assignment"], *ours["assignment"]]):
        kafka, our = said["assignment"].get(worker), ours["assignment"].get(worker)
        if kafka != our:
            lines += [f"  {worker}", f"    Kafka {_short(kafka)}", f"    ours  {_short(our)}"]
    return lines


def _short(share: Mapping[str, list[str]] | None) -> str:
    if share is None:
        return "(no entry)"
    given = [*share["connectors"], *share["tasks"]]
    revoked = [*share["revoked_connectors"], *share["revoked_tasks"]]
    text = " ".join(given) or "nothing new"
    return f"{text}; revoked {' '.join(revoked)}" if revoked else text
