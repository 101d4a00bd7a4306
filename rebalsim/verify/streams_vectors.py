"""Answers of Kafka Streams' task assignors, on the client and on the broker: every step's input is
given to ours, and the answer held against Kafka's.

A client's step is a whole assignment, from the threads' subscriptions to each thread's tasks. Of
the sticky one with standbys only the active tasks are determined: Kafka hands out its standbys in
an order that is another one in every JVM.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rebalsim.assignors.streams import leader, server_sticky
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import Subtopology, TaskId, Topology, task_named, topology_of
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import partition_named, sane_counts
from rebalsim.outside.documents import parse_json
from rebalsim.trace.gzipped import lines_of
from rebalsim.verify.finding import Cases, Finding, asked_of, over_files

Step = dict[str, Any]
Answer = dict[str, Any]

KIND = "streams-assignors"
_MOST_TASKS = 100_000
_COSTS = "rack.aware.assignment."
_OURS = {"ha": "streams-ha", "sticky": "streams-sticky"}


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Hold every step of the file against our assignors; the first `differences` differing ones
    are told in full.
    """
    held = Cases(differences)
    for line, chain in _chains(path):
        answer, judged = _assignor(chain, f"{path}:{line}")
        for number, step in enumerate(chain["steps"], 1):
            held.count += 1
            with asked_of("Kafka's task assignors", f"{path}:{line}: step {number}"):
                kafkas, ours = judged(_kafkas(step)), judged(answer(step))
            if kafkas != ours:
                asked = {"line": line, "step": number, "assignor": chain["assignor"]}
                found = {**asked, "kafka": kafkas, "ours": ours}
                held.differs(found, _told(found))
    return held.finding(path, KIND, "steps identical to Kafka Streams'")


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all the files."""
    return over_files(findings, "task assignors", "steps", "Kafka Streams'")


def _chains(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(lines_of(path), 1):
        if not text.strip():
            continue
        try:
            chain = parse_json(text, f"{path}:{line}")
            fine = isinstance(chain["assignor"], str) and isinstance(chain["subtopologies"], list)
            fine = fine and all(isinstance(step, dict) for step in chain["steps"])
        except (ValueError, KeyError, TypeError, RecursionError):
            fine = False
        if not fine:
            raise InputError(f"{path}:{line}: is not a chain of a task assignor's answers")
        yield line, chain


def _assignor(
    chain: dict[str, Any], place: str
) -> tuple[Callable[[Step], Answer], Callable[[Answer], Answer]]:
    """Who answers the steps of this chain, and what of an answer is judged."""
    name = chain["assignor"]
    if name == "streams-sticky":
        return lambda step: _brokers(chain, step), lambda answer: answer
    if name not in _OURS:
        raise InputError(
            f"{place}: there is no task assignor {name!r} — rebalsim knows {', '.join(_OURS)} "
            "and the broker's streams-sticky"
        )
    try:
        settings = settings_of(chain["config"])
        topology = _topology(chain)
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(
            f"{place}: config, topics or subtopologies are not an application's ({e})"
        ) from None
    arbitrary = name == "sticky" and settings.num_standby_replicas > 0
    return (
        lambda step: _leaders(chain, _OURS[name], topology, settings, step),
        _active_only if arbitrary else lambda answer: answer,
    )


def settings_of(config: dict[str, Any]) -> TaskAssignorSettings:
    """An application's settings under Kafka's names as its task assignor reads them."""
    known = TaskAssignorSettings()
    tags = config.get(_COSTS + "tags") or ""
    return TaskAssignorSettings(
        int(config.get("num.standby.replicas", known.num_standby_replicas)),
        int(config.get("acceptable.recovery.lag", known.acceptable_recovery_lag)),
        int(config.get("max.warmup.replicas", known.max_warmup_replicas)),
        int(config.get("probing.rebalance.interval.ms", known.probing_rebalance_interval_ms)),
        str(config.get("rack.aware.assignment.strategy", known.rack_aim)),
        config.get(_COSTS + "traffic_cost"),
        config.get(_COSTS + "non_overlap_cost"),
        tuple(tag.strip() for tag in tags.split(",") if tag.strip()),
    )


def _topology(chain: dict[str, Any]) -> Topology:
    parts = [
        Subtopology(
            tuple(part["sources"]), tuple(f"app-{store}-changelog" for store in part["stores"])
        )
        for part in chain["subtopologies"]
    ]
    topics = sane_counts({name: int(count) for name, count in chain["topics"].items()})
    if sum(topics.values()) > _MOST_TASKS:
        raise ValueError(f"more than {_MOST_TASKS} partitions")
    return topology_of(parts, topics)


def _leaders(
    chain: dict[str, Any],
    assignor: str,
    topology: Topology,
    settings: TaskAssignorSettings,
    step: Step,
) -> Answer:
    claims = [
        ThreadClaim(
            member["id"],
            member["process"],
            tuple(map(partition_named, member["owned"])),
            _sums(member["offset_sums"]),
            member.get("rack"),
            member.get("tags", {}),
        )
        for member in step["members"]
    ]
    ends = step["end_offset_sums"]
    answer = leader.assign(
        assignor,
        topology,
        claims,
        leader=step["leader"],
        now_ms=int(step["now"]),
        settings=settings,
        end_offset_sums=None if ends is None else _sums(ends),
        replica_racks=chain.get("replica_racks"),
    )
    return _plain(answer, step)


def _sums(offsets: dict[str, Any]) -> dict[TaskId, int]:
    return {task_named(task): int(offset) for task, offset in offsets.items()}


def _plain(answer: leader.LeaderAnswer, step: Step) -> Answer:
    threads = {}
    for member, share in answer.shares.items():
        threads[member] = {
            "partitions": sorted(f"{p}:{task}" for p, task in zip(share.partitions, share.tasks)),
            "standby": sorted(map(str, share.standby)),
            "next_rebalance": share.next_rebalance_ms,
        }
    plain: Answer = {"assignment": threads}
    if "decided" in step:
        plain["probing"] = answer.probing
        plain["decided"] = {
            process: {"active": sorted(map(str, active)), "standby": sorted(map(str, standby))}
            for process, (active, standby) in answer.decided.items()
        }
    return plain


def _brokers(chain: dict[str, Any], step: Step) -> Answer:
    stateful = {int(part["id"]): bool(part["stateful"]) for part in chain["subtopologies"]}
    counts = {int(part): int(count) for part, count in step["tasks"].items()}
    sane_counts({str(part): count for part, count in counts.items()})
    if sum(counts.values()) > _MOST_TASKS:
        raise ValueError(f"more than {_MOST_TASKS} tasks")
    members = []
    for m in step["members"]:
        active, standby = (tuple(map(task_named, m[role])) for role in ("active", "standby"))
        members.append(server_sticky.StreamsMember(m["id"], m["process"], active, standby))
    target = server_sticky.assign(counts, stateful, members, int(step["num_standby_replicas"]))
    assignment = {
        member: {"active": sorted(map(str, t.active)), "standby": sorted(map(str, t.standby))}
        for member, t in target.items()
    }
    return {"assignment": assignment}


def _kafkas(step: Step) -> Answer:
    """The recorded answer in the form of ours."""
    threads = {}
    for member, share in step["assignment"].items():
        if "partitions" not in share:
            threads[member] = {role: sorted(share[role]) for role in ("active", "standby")}
            continue
        threads[member] = {
            "partitions": sorted(
                f"{p}:{task}" for p, task in zip(share["partitions"], share["active"], strict=True)
            ),
            "standby": sorted(share["standby"]),
            "next_rebalance": share.get("next_rebalance"),
        }
    plain: Answer = {"assignment": threads}
    if "decided" in step:
        plain["probing"] = step["probing"]
        plain["decided"] = {
            process: {role: sorted(tasks[role]) for role in ("active", "standby")}
            for process, tasks in step["decided"].items()
        }
    return plain


def _active_only(answer: Answer) -> Answer:
    """What the sticky assignor determines beside standbys: the active tasks of processes."""
    return {process: each["active"] for process, each in answer.get("decided", {}).items()}


def _told(found: dict[str, Any]) -> list[str]:
    lines = [f"line {found['line']}, step {found['step']}: {found['assignor']}"]
    for part in dict.fromkeys([*found["kafka"], *found["ours"]]):
        lines += _apart(part, found["kafka"].get(part), found["ours"].get(part))
    return lines


def _apart(part: str, kafkas: Any, ours: Any) -> list[str]:
    """The entries of one part of an answer that differ."""
    if kafkas == ours:
        return []
    if not isinstance(kafkas, dict) or not isinstance(ours, dict):
        return [f"  {part}: Kafka {_short(kafkas)}, ours {_short(ours)}"]
    return [
        f"  {part} {key}: Kafka {_short(kafkas.get(key))}, ours {_short(ours.get(key))}"
        for key in dict.fromkeys([*kafkas, *ours])
        if kafkas.get(key) != ours.get(key)
    ]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"
