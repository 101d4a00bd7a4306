"""Conversations with Kafka's own group coordinator (classic protocol), held against ours: every
answer, its time, every state.

Our coordinator is asked what Kafka's was asked, at the same virtual times; its timers fire
between the requests. What it says is written down as the recording is, and the two are compared
line by line. Of the recorded answers only the member ids are used, since Kafka draws them.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import BugError, InputError
from rebalsim.outside.documents import parse_json
from rebalsim.protocol.classic_group import ClassicGroup, CoordinatorRules, fired, step, written
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    ClassicRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from rebalsim.verify.conversations import summarise_lines, verify_lines
from rebalsim.verify.finding import Finding
from rebalsim.verify.same_lines import Astray, Line, is_same, ties_apart

GROUP = "g"
RESTLESS = 10_000  # timers that fire in one ms before we say that they never come to rest
ID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def verify(path: Path, *, differences: int = 3) -> Finding:
    """Replay every conversation of the file."""
    return verify_lines(
        path,
        "classic",
        "classic coordinator",
        differences,
        _parsed,
        lambda conversation, _: compare(conversation),
    )


def summarise(findings: list[Finding]) -> list[str]:
    """One line over all files of this kind."""
    return summarise_lines(findings, "classic coordinator")


def compare(conversation: Line) -> dict[str, Any] | None:
    """The first place where our coordinator says something else than Kafka's; None if there is
    none.
    """
    theirs: list[Line] = conversation["steps"]
    replay = _Replay(conversation)
    trouble = ""
    try:
        replay.run()
    except BugError as e:
        trouble = f"rebalsim contradicts itself: {e}"
    except Astray as e:
        trouble = str(e)
    ours = replay.lines
    asked: Line | None = None
    for at in range(max(len(ours), len(theirs))):
        mine = ours[at] if at < len(ours) else None
        kafka = theirs[at] if at < len(theirs) else None
        if mine is None or kafka is None or not is_same(mine, kafka):
            if mine is None and trouble:
                break
            return {
                "step": at + 1,
                "t": (kafka or mine or {})["t"],
                "request": asked,
                "kafka": kafka,
                "rebalsim": mine,
            }
        if "do" in mine:
            asked = mine
    if trouble:
        return {
            "step": len(ours) + 1,
            "t": replay.now,
            "request": asked,
            "kafka": theirs[len(ours)] if len(ours) < len(theirs) else None,
            "rebalsim": trouble,
        }
    return ties_apart(conversation["timer_ties"], replay.ties, len(theirs))


class _Replay:
    """One conversation with our coordinator: its timers, its clock in ms, and what was said so
    far in the form of the recording.
    """

    def __init__(self, conversation: Line) -> None:
        config = conversation["config"]
        self.theirs: list[Line] = conversation["steps"]
        self.end: int = conversation["end"]
        self.group = ClassicGroup(
            GROUP,
            CoordinatorRules(
                initial_rebalance_delay_us=config["group.initial.rebalance.delay.ms"] * 1000,
                max_size=config["group.max.size"],
                min_session_timeout_us=config["group.min.session.timeout.ms"] * 1000,
                max_session_timeout_us=config["group.max.session.timeout.ms"] * 1000,
            ),
            self._new_member_id,
        )
        self.lines: list[Line] = []
        self.ties: list[int] = []
        self.now = 0
        self._tells_timers = any("timer" in line for line in self.theirs)
        self._state: Line | None = None
        self._answers: dict[int, Line] = {}
        self._due: list[tuple[int, int, str]] = []
        self._armed: dict[str, tuple[int, int]] = {}
        self._sets = 0
        self._replies: dict[int, Line] = {}
        self._at = 0
        for line in self.theirs:
            if "reply" in line:
                self._answers.setdefault(line["reply"], line)

    def run(self) -> None:
        asked = 0
        for at, line in enumerate(self.theirs):
            if "do" not in line:
                continue
            self._at = at
            asked += 1
            if line["id"] != asked:
                raise Astray(
                    f"the next request in the recording should have id {asked}, not {line['id']}"
                )
            if line["t"] < self.now:
                raise Astray(
                    f"the next request in the recording comes at {line['t']} ms, but it is "
                    f"{self.now} ms already"
                )
            self._advance(line["t"])
            self.lines.append(line)
            self._carry_out(step(self.group, asked, _REQUESTS[line["do"]](line), self.now * 1000))
            self._fire_due()
            self._flush()
        if self.end < self.now:
            raise Astray(
                f"the recording says that it ends at {self.end} ms, but it is {self.now} ms already"
            )
        self._advance(self.end)

    # --------------------------------------------------------------------------------------- timers

    def _advance(self, to: int) -> None:
        """Timers fire one after the other, in the order they were set in where they are due
        together; those of one ms are told together.
        """
        while self._due and self._due[0][0] <= to:
            due, number, key = self._due[0]
            if self._armed.get(key) != (due, number):
                heapq.heappop(self._due)
                continue
            self.now = max(self.now, due)
            self._fire_due()
            self._flush()
        self.now = to

    def _fire_due(self) -> None:
        """Fires every timer that is due, also those that others of them set."""
        count = 0
        while self._due and self._due[0][0] <= self.now:
            due, number, key = heapq.heappop(self._due)
            if self._armed.get(key) != (due, number):
                continue
            del self._armed[key]
            if self._tells_timers:
                self.lines.append({"t": self.now, "timer": key})
            self._carry_out(fired(self.group, key, self.now * 1000))
            count += 1
            if count > RESTLESS:
                raise Astray(f"the timers do not come to rest at {self.now} ms")
        if count > 1:
            self.ties.append(self.now)

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Reply(request, response):
                    self._replies[request] = _answer(request, response)
                case SetTimer(key, due_us):
                    self._sets += 1
                    self._armed[key] = (due_us // 1000, self._sets)
                    heapq.heappush(self._due, (due_us // 1000, self._sets, key))
                case CancelTimer(key):
                    self._armed.pop(key, None)
                case Append(number):  # here the log takes everything, at once
                    self._carry_out(written(self.group, number, None, self.now * 1000))

    # --------------------------------------------------------------------------------- what is said

    def _flush(self) -> None:
        """The answers that are complete now, by request; then the state if it is another one."""
        for request in sorted(self._replies):
            self.lines.append({"t": self.now, **self._replies[request]})
        self._replies.clear()
        group = self.group
        if group.exists:
            state = {
                "state": group.state.value,
                "generation": group.generation,
                "leader": group.leader_id,
                "protocol": group.protocol,
                "members": sorted(group.members),
            }
            if state != self._state:
                self._state = state
                self.lines.append({"t": self.now, **state})

    def _new_member_id(self, prefix: str) -> str:
        """The id that Kafka drew: in the answer to this request, or (if that is missing) in the
        state that follows.
        """
        said = self._answers.get(self.theirs[self._at]["id"], {}).get("member")
        candidates = [said] if said else []
        for line in self.theirs[self._at + 1 :]:
            if "do" in line:
                break
            candidates += line.get("members", ()) if "state" in line else ()
        for candidate in candidates:
            is_drawn = (
                candidate.startswith(prefix) and ID.fullmatch(candidate, len(prefix)) is not None
            )
            if (
                is_drawn
                and candidate not in self.group.members
                and candidate not in self.group.pending
            ):
                return str(candidate)
        return f"{prefix}-(no id in the recording)"


def _answer(request: int, response: Any) -> Line:
    error: Error = response.error
    line: Line = {"reply": request, "error": error.name}
    if isinstance(response, JoinGroupResponse):
        if error is Error.NONE:
            told = sorted(response.members)
            line |= {
                "generation": response.generation,
                "protocol": response.protocol,
                "leader": response.leader,
                "member": response.member_id,
                "skip_assignment": response.skip_assignment,
                "members": [list(member) for member in told],
            }
            if len(told) > 1:
                places = {member.member_id: place for place, member in enumerate(told)}
                line["order"] = [places[member.member_id] for member in response.members]
        else:
            line["member"] = response.member_id
    elif isinstance(response, SyncGroupResponse):
        if error is Error.NONE:
            line |= {
                "assignment": "" if response.assignment is None else response.assignment,
                "protocol": response.protocol,
            }
    elif isinstance(response, LeaveGroupResponse):
        line["members"] = [
            {"member": m.member_id, "instance": m.instance_id, "error": m.error.name}
            for m in response.members
        ]
    return line


def _join(line: Line) -> ClassicRequest:
    return JoinGroupRequest(
        line["member"],
        line["instance"],
        line["client_id"],
        line["session_ms"] * 1000,
        line["rebalance_ms"] * 1000,
        tuple((name, metadata) for name, metadata in line["protocols"]),
        line["protocol_type"],
        line["reason"],
    )


_REQUESTS: dict[str, Callable[[Line], ClassicRequest]] = {
    "join": _join,
    "sync": lambda line: SyncGroupRequest(
        line["member"],
        line["instance"],
        line["generation"],
        line["protocol_type"],
        line["protocol"],
        line["assignments"],
    ),
    "heartbeat": lambda line: HeartbeatRequest(
        line["member"], line["instance"], line["generation"]
    ),
    "leave": lambda line: LeaveGroupRequest(
        [LeavingMember(who["member"], who["instance"]) for who in line["members"]]
    ),
    "commit": lambda line: OffsetCommitRequest(
        line["member"], line["instance"], line["generation"]
    ),
}


# ------------------------------------------------------------------------------- the form of a line


def _parsed(text: str, where: str) -> Line:
    """The conversation of one line, if it is one as far as it will be used."""
    try:
        conversation = parse_json(text, where)
    except (ValueError, RecursionError) as e:
        raise InputError(
            f"{where}: is not JSON ({e}) — every line holds one conversation as one JSON object"
        ) from None
    try:
        _check_conversation(conversation)
    except _Malformed as e:
        raise InputError(f"{where}: {e}") from None
    return conversation  # type: ignore[no-any-return]


class _Malformed(Exception):
    """What is wrong with the line's form, and what belongs there."""


Check = Callable[[Any], bool]


def _whole(value: Any) -> bool:
    return type(value) is int


def _duration(value: Any) -> bool:
    return type(value) is int and value >= 0


def _text(value: Any) -> bool:
    return type(value) is str


def _text_or_null(value: Any) -> bool:
    return value is None or type(value) is str


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _protocols(value: Any) -> bool:
    return type(value) is list and all(
        type(pair) is list and len(pair) == 2 and _texts(pair) for pair in value
    )


def _assignments(value: Any) -> bool:
    return type(value) is dict and all(type(text) is str for text in value.values())


def _leaving(value: Any) -> bool:
    return type(value) is list and all(
        type(who) is dict
        and _text(who.get("member"))
        and "instance" in who
        and _text_or_null(who["instance"])
        for who in value
    )


_KINDS: dict[Check, str] = {
    _whole: "a whole number",
    _duration: "a whole number of ms, not negative",
    _text: "a text",
    _text_or_null: "a text or null",
    _texts: "a list of texts",
    _protocols: "a list of pairs [name, metadata]",
    _assignments: "an object of texts by member id",
    _leaving: 'a list of {"member", "instance"}',
}
_IDENTITY: dict[str, Check] = {"member": _text, "instance": _text_or_null}
_FORMS: dict[str, dict[str, Check]] = {
    "join": {
        **_IDENTITY,
        "client_id": _text,
        "session_ms": _whole,
        "rebalance_ms": _whole,
        "protocol_type": _text,
        "protocols": _protocols,
        "reason": _text_or_null,
    },
    "sync": {
        **_IDENTITY,
        "generation": _whole,
        "protocol_type": _text_or_null,
        "protocol": _text_or_null,
        "assignments": _assignments,
    },
    "heartbeat": {**_IDENTITY, "generation": _whole},
    "leave": {"members": _leaving},
    "commit": {**_IDENTITY, "generation": _whole},
}
_CONFIG: dict[str, Check] = dict.fromkeys(
    (
        "group.initial.rebalance.delay.ms",
        "group.max.size",
        "group.min.session.timeout.ms",
        "group.max.session.timeout.ms",
    ),
    _duration,
)


def _check_conversation(conversation: Any) -> None:
    if type(conversation) is not dict:
        raise _Malformed(
            'is not a JSON object — a conversation has "config", "steps", "end" and "timer_ties"'
        )
    _check(conversation, "", {"end": _duration})
    config, steps, ties = (conversation.get(key) for key in ("config", "steps", "timer_ties"))
    if type(config) is not dict:
        raise _Malformed(
            "\"config\" is missing or no object — it holds the coordinator's settings by Kafka's "
            "names"
        )
    _check(config, "config: ", _CONFIG)
    if type(ties) is not list or not all(_whole(t) for t in ties):
        raise _Malformed('"timer_ties" is missing or no list of ms')
    if type(steps) is not list:
        raise _Malformed('"steps" is missing or no list')
    for number, line in enumerate(steps, 1):
        _check_line(line, f"step {number}: ")


def _check_line(line: Any, where: str) -> None:
    if type(line) is not dict:
        raise _Malformed(f"{where}is not a JSON object")
    _check(line, where, {"t": _duration})
    if "do" in line:
        form = _FORMS.get(line["do"]) if type(line["do"]) is str else None
        if form is None:
            raise _Malformed(
                f'{where}"do" is {json.dumps(line["do"])[:80]} — a request is one of '
                f"{', '.join(_FORMS)}"
            )
        _check(line, where, {"id": _whole, **form})
    elif "reply" in line:
        _check(line, where, {"reply": _whole, "error": _text})
        if "member" in line:
            _check(line, where, {"member": _text})
    elif "state" in line:
        _check(line, where, {"members": _texts})
    elif "timer" not in line:
        raise _Malformed(f'{where}is no request ("do"), no answer ("reply") and no state ("state")')


def _check(line: Line, where: str, form: dict[str, Check]) -> None:
    for key, check in form.items():
        if key not in line:
            raise _Malformed(f'{where}"{key}" is missing — it is {_KINDS[check]}')
        if not check(line[key]):
            raise _Malformed(
                f'{where}"{key}" is {json.dumps(line[key])[:80]} — it must be {_KINDS[check]}'
            )
