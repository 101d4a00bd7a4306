"""franz-go's lines: `MESSAGE; group: G, key: value, …`, in whatever frame its logger puts them."""

from __future__ import annotations

import re
from collections.abc import Callable

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import GIVEN_UP, Fact, FactKind, Record, sorted_partitions

Teller = Callable[[int, str], list[Fact]]
_GROUP = re.compile(r"; group: ([^,]{1,249})")
_TOPIC = re.compile(r"([\w.-]{1,249})\[([\d ]{0,60000})\]")
_PLAN = re.compile(r"(\S[^{}]{0,400}?)\{([^{}]*)\}")
_JOINED = re.compile(
    r"(?<!re)joined(?:, balancing group)?; group: ([^,]{1,249}), member_id: (.{1,400}?), instance_id: "
    r"(.{0,249}?), generation: (\d{1,9})(?:, balance_protocol: ([^,]{0,100}))?"
)
_SESSION = re.compile(r"new group session begun; group: [^,]{1,249}, added: (.*?), lost: ?(.*)$")
_EAGER = re.compile(
    r"(?:eager|cooperative) consumer (?:revoking prior assigned|giving up|losing) .*?"
    r"(?:revoking|lost|giving up): ?(.*?)(?:, stage: .*)?$"
)
_REVOKE = re.compile(r"calling onRevoke at the end of a session; .*?lost: ?(.*?), stage: (\d)")
_LOST = re.compile(
    r"(?:calling onLost|lost partitions).*?(?:lost|revoking): ?(.*?)(?:, stage: .*)?$"
)
_LEAVING = re.compile(r"leaving group; group: ([^,]{1,249}), member_id: ([^,]{1,400})")
_NAMED = re.compile(
    r"rejoining with response's MemberID; group: [^,]{1,249}, member_id: ([^,\s]{1,400})"
)
_EPOCH = re.compile(r"member_id: ([^,\s]{1,400}).*?(?:epoch|generation): (\d{1,9})")


def partitions_in(text: str) -> tuple[str, ...]:
    """Partitions as franz-go prints them: `topic[0 1 2], other[3]`."""
    return sorted_partitions(
        [f"{topic}-{n}" for topic, numbers in _TOPIC.findall(text) for n in numbers.split()]
    )


def read(record: Record) -> Facts | None:
    """What a line of franz-go proves."""
    text, at = record.text, record.at_us
    if text.find("balanced; plan: ") >= 0:
        plan = {
            m[1].strip(" ,"): partitions_in(m[2]) for m in _PLAN.finditer(text.split("plan: ")[1])
        }
        return (Fact(at, FactKind.PLANNED, plan=plan),)
    group = _GROUP.search(text)
    if group is None:
        return None
    found = _facts(at, text)
    for fact in found:
        fact.group = group[1]
    return found


def _facts(at: int, text: str) -> list[Fact]:
    for mark, teller in _TELLERS:
        if mark in text:
            return teller(at, text)
    return []


def _joined(at: int, text: str) -> list[Fact]:
    m = _JOINED.search(text)
    if m is None:
        return []
    return [
        Fact(
            at,
            FactKind.JOINED,
            member=m[2],
            generation=int(m[4]),
            why=m[5] or "",
            instance=_given(m[3]),
        )
    ]


def _given(text: str) -> str:
    return "" if text == "<nil>" else text


def _session(at: int, text: str) -> list[Fact]:
    m = _SESSION.search(text)
    if m is None:
        return []
    return [Fact(at, FactKind.ASSIGNED, partitions=partitions_in(m[1]))]


def _callback(pattern: re.Pattern[str], what: FactKind) -> Teller:
    def teller(at: int, text: str) -> list[Fact]:
        m = pattern.search(text)
        return [Fact(at, what, partitions=partitions_in(m[1]))] if m is not None else []

    return teller


def _named(at: int, text: str) -> list[Fact]:
    m = _NAMED.search(text)
    return [Fact(at, FactKind.NAMED, member=m[1])] if m is not None else []


def _leaving(at: int, text: str) -> list[Fact]:
    m = _LEAVING.search(text)
    return [Fact(at, FactKind.LEAVING, member=m[2])] if m is not None else []


def _errored(at: int, text: str) -> list[Fact]:
    if "REBALANCE_IN_PROGRESS" in text:
        return [Fact(at, FactKind.HEARD)]
    error = text.partition("err: ")[2].partition(":")[0]
    return [Fact(at, FactKind.THROWN_OUT, why=error)]


def _heartbeat(at: int, text: str) -> list[Fact]:
    m = _EPOCH.search(text)
    return [Fact(at, FactKind.EPOCH, member=m[1], generation=int(m[2]))] if m is not None else []


_TELLERS = (
    (
        "joining group; group",
        lambda at, text: [Fact(at, FactKind.ASKING)] if "rejoin" not in text else [],
    ),
    ("MemberIDRequired", _named),
    ("joined", _joined),
    ("synced; group", lambda at, text: [Fact(at, FactKind.SYNCED)]),
    ("new group session begun", _session),
    ("heartbeat errored", _errored),
    ("consumer revoking prior assigned", _callback(_EAGER, FactKind.REVOKED)),
    ("calling onRevoke at the end of a session", _callback(_REVOKE, FactKind.REVOKED)),
    ("calling onLost", _callback(_LOST, FactKind.LOST)),
    ("leaving group; group", _leaving),
    ("beginning to manage the", lambda at, text: [Fact(at, FactKind.STARTED)]),
    ("heartbeat received updated assignment", _heartbeat),
)


def put_together(facts: list[Fact]) -> list[Fact]:
    """Who leaves gives up what it held, also where no line says so."""
    held: dict[str, None] = {}
    out = []
    for fact in facts:
        if fact.what == FactKind.ASSIGNED:
            held.update(dict.fromkeys(fact.partitions))
        elif fact.what in GIVEN_UP:
            for partition in fact.partitions:
                held.pop(partition, None)
        elif fact.what == FactKind.STARTED:
            held.clear()
        elif fact.what == FactKind.LEAVING and held:
            given = sorted_partitions(list(held))
            out.append(
                Fact(fact.at_us, FactKind.REVOKED, fact.group, member=fact.member, partitions=given)
            )
            held.clear()
        out.append(fact)
    return out


DIALECT = Dialect(
    "franz-go",
    ("; group: ", "balanced; plan: "),
    read,
    order=60,
    put_together=put_together,
    client="franz-go",
)
