"""Assignor answers: every step's input is given to our assignor of the same name, and its answer
held against Kafka's.

A line is a chain of group changes. The lists of an answer are compared as sets: who gets what is
the matter, not in which order it is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalsim.assignors.claim import AssignmentFailed, Claim
from rebalsim.assignors.registry import ASSIGNORS, ClientAssignor, ServerAssignor
from rebalsim.assignors.server_target import ServerMember
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition, partition_named, sane_counts
from rebalsim.domain.java_hash import hash_ordered, uuid_halves, uuid_hash
from rebalsim.outside.documents import parse_json
from rebalsim.trace.gzipped import lines_of
from rebalsim.verify.finding import Cases, Finding, asked_of, over_files

# partitions as the file writes them: an answer may be wrong in any way
Answer = Mapping[str, Sequence[str]]
SHOWN_WHOLE = 12  # larger groups are told by the members that differ


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Hold every step of the file against our assignors; the first `differences` differing ones
    are told in full.
    """
    held = Cases(differences)
    for line, number, name, step in _steps(path):
        held.count += 1
        with asked_of("Kafka's assignors", f"{path}:{line}: step {number}"):
            ours = _our_answer(name, step)
            kafkas = _answer(step["assignment"]) if "assignment" in step else str(step["error"])
        if _agree(kafkas, ours):
            continue
        asked = {"line": line, "step": number, "assignor": name, "members": step["members"]}
        told = _told(line, number, name, step, kafkas, ours)
        held.differs({**asked, "kafka": _plain(kafkas), "ours": _plain(ours)}, told)
    return held.finding(path, "assignors", "steps identical to Kafka's")


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all the files."""
    return over_files(findings, "assignors", "steps", "Kafka's")


def _steps(path: Path) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    """Line (from 1), step within the line (from 1), assignor, step."""
    for line, text in enumerate(lines_of(path), 1):
        if not text.strip():
            continue
        try:
            chain = parse_json(text, f"{path}:{line}")
            name, steps = chain["assignor"], chain["steps"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(f"{path}:{line}: is not a chain of an assignor's answers") from None
        if not isinstance(name, str) or name not in ASSIGNORS:
            raise InputError(
                f"{path}:{line}: there is no assignor {name!r} — rebalsim knows "
                f"{', '.join(ASSIGNORS)}"
            )
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise InputError(f"{path}:{line}: `steps` is not a list of steps")
        for number, step in enumerate(steps, 1):
            yield line, number, name, step


def _our_answer(name: str, step: dict[str, Any]) -> Answer | str:
    assignor = ASSIGNORS[name]
    try:
        if isinstance(assignor, ServerAssignor):
            return _server_answer(assignor, step)
        return _client_answer(assignor, step)
    except AssignmentFailed as e:
        return str(e)


def _client_answer(assignor: ClientAssignor, step: dict[str, Any]) -> Answer:
    # there, user data always holds what the subscription says; in single steps it may not
    in_chain = "generation" in step
    claims = []
    for member in step["members"]:
        owned = tuple(map(partition_named, member["owned"]))
        generation = int(member["owned_generation"])
        said = generation if in_chain else member.get("user_generation")
        user = assignor.fresh if said is None else assignor.remember(owned, said)
        claims.append(
            Claim(
                member["id"],
                tuple(member["topics"]),
                member.get("instance"),
                member.get("rack"),
                owned,
                generation,
                user.owned,
                user.generation,
            )
        )
    topics = sane_counts({name: int(count) for name, count in step["topics"].items()})
    return {
        member: [str(p) for p in partitions]
        for member, partitions in assignor.assign(topics, claims, step.get("replica_racks")).items()
    }


def _server_answer(assignor: ServerAssignor, step: dict[str, Any]) -> Answer:
    ids = {name: str(topic["id"]) for name, topic in step["topics"].items()}
    names = {topic_id: name for name, topic_id in ids.items()}
    for topic_id in names:
        uuid_halves(topic_id)
    members = []
    for member in step["members"]:
        target: dict[str, list[int]] = {}
        for partition in map(partition_named, member["target"]):
            target.setdefault(ids[partition.topic], []).append(partition.number)
        # a set of ids, filled in the order of names
        subscribed = hash_ordered([ids[name] for name in member["topics"]], uuid_hash)
        members.append(
            ServerMember(member["id"], tuple(subscribed), member.get("instance"), target)
        )
    counts = sane_counts(
        {str(topic["id"]): int(topic["partitions"]) for topic in step["topics"].values()}
    )
    targets = assignor.assign(counts, members)
    return {
        member: [f"{names[t]}-{n}" for t, numbers in target.items() for n in numbers]
        for member, target in targets.items()
    }


def _answer(assignment: Mapping[str, Sequence[Any]]) -> Answer:
    return {member: [str(text) for text in partitions] for member, partitions in assignment.items()}


def _agree(kafkas: Answer | str, ours: Answer | str) -> bool:
    """Both failed, or both gave every member the same partitions; a partition listed twice is
    not the same as once.
    """
    if isinstance(kafkas, str) or isinstance(ours, str):
        return isinstance(kafkas, str) and isinstance(ours, str)
    return {member: sorted(partitions) for member, partitions in kafkas.items()} == {
        member: sorted(partitions) for member, partitions in ours.items()
    }


def _plain(answer: Answer | str) -> Any:
    return (
        answer
        if isinstance(answer, str)
        else {member: sorted(partitions) for member, partitions in answer.items()}
    )


def _told(
    line: int,
    number: int,
    name: str,
    step: dict[str, Any],
    kafkas: Answer | str,
    ours: Answer | str,
) -> list[str]:
    """The step as people read it: what each member brought, what Kafka gave it, and what we
    would have, where that differs.
    """
    counts = {
        topic: count if isinstance(count, int) else count["partitions"]
        for topic, count in step["topics"].items()
    }
    topics = " ".join(f"{topic}×{count}" for topic, count in counts.items())
    lines = [f"line {line}, step {number}: {name}, topics {topics}"]
    failed = [
        (who, answer) for who, answer in (("Kafka", kafkas), ("ours", ours)) if type(answer) is str
    ]
    lines += [f"  {who} failed: {why}" for who, why in failed]
    known = {member["id"]: member for member in step["members"]}
    theirs, mine = ({} if isinstance(answer, str) else answer for answer in (kafkas, ours))
    everybody = list({**known, **theirs, **mine})
    alike = 0
    for member_id in everybody:
        member, kafka, our = known.get(member_id), theirs.get(member_id), mine.get(member_id)
        same = kafka is not None and our is not None and sorted(kafka) == sorted(our)
        if same and len(everybody) > SHOWN_WHOLE:
            alike += 1
            continue
        lines.append(f"  {member_id}{_brought(member, counts)}")
        lines += _given(kafka, our, same)
    if alike:
        lines.append(f"  … and {alike} members to which both give the same")
    return lines


def _given(kafka: Sequence[str] | None, our: Sequence[str] | None, is_same: bool) -> list[str]:
    """What a member got of Kafka and of us, as lines below its name."""
    if is_same and kafka is not None:
        return [f"    both  {_runs(kafka)}"]
    return [
        f"    {who} {'(no entry)' if answer is None else _runs(answer)}{_apart(answer, other)}"
        for who, answer, other in (("Kafka", kafka, our), ("ours ", our, kafka))
    ]


def _brought(member: Mapping[str, Any] | None, counts: Mapping[str, int]) -> str:
    if member is None:
        return " (not in the group)"
    parts = [f"static {member['instance']}"] if member.get("instance") else []
    if member.get("rack"):
        parts.append(f"rack {member['rack']}")
    if list(member["topics"]) != list(counts):
        parts.append("wants " + (" ".join(member["topics"]) or "nothing"))
    held = member.get("owned", member.get("target", ()))
    if "target" in member:
        parts.append(f"had the target {_runs(held)}")
    elif held or member.get("owned_generation", -1) >= 0:
        user = (
            "" if "user_generation" not in member else f", user data of {member['user_generation']}"
        )
        parts.append(f"had {_runs(held)} of generation {member['owned_generation']}{user}")
    return " (" + ", ".join(parts) + ")" if parts else ""


def _apart(answer: Sequence[str] | None, other: Sequence[str] | None) -> str:
    extra = [p for p in answer or () if p not in (other or ())]
    return f"   only here: {_runs(extra)}" if extra and other is not None else ""


def _runs(texts: Sequence[str]) -> str:
    """Partitions in short: `orders 0-3 7, payments 1`; what is not a partition as it stands."""
    topics: dict[str, list[str]] = {}
    begun: Partition | None = None
    last: Partition | None = None
    for p in sorted(partition_named(text) for text in texts if _is_partition(text)):
        if (
            last is not None
            and begun is not None
            and p.topic == last.topic
            and p.number == last.number + 1
        ):
            topics[p.topic][-1] = f"{begun.number}-{p.number}"
        else:
            topics.setdefault(p.topic, []).append(str(p.number))
            begun = p
        last = p
    odd = [repr(text) for text in texts if not _is_partition(text)]
    return (
        ", ".join([f"{topic} {' '.join(runs)}" for topic, runs in topics.items()] + odd)
        or "nothing"
    )


def _is_partition(text: str) -> bool:
    return text.rpartition("-")[2].isdecimal()
