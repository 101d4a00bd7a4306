"""The assignors by Kafka's names: `range`, `roundrobin`, `sticky`, `cooperative-sticky`; the
broker's own are `server-range`, `server-uniform`.

A consumer lists client assignors in `partition.assignment.strategy`, by these names or by their
Java classes; a scenario that names
`group.remote.assignor` means the broker's by Kafka's names `range` and `uniform`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rebalsim.assignors import (
    cooperative_sticky,
    range_assignor,
    round_robin,
    server_range,
    server_uniform,
    sticky,
)
from rebalsim.assignors.claim import Assignment, Claim, ReplicaRacks, Topics, UserData
from rebalsim.assignors.server_target import ServerMember, Targets
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition

EAGER, COOPERATIVE, CONSUMER = "eager", "cooperative", "consumer"
_BY_RANK = (EAGER, COOPERATIVE)  # Kafka's ids of the rebalance protocols, 0 and 1


class AssignFunction(Protocol):
    def __call__(
        self,
        topics: Topics,
        members: Sequence[Claim],
        replica_racks: ReplicaRacks | None = None,
        generation: int | None = None,
    ) -> Assignment: ...


class ServerAssignFunction(Protocol):
    def __call__(
        self,
        topics: dict[str, int],
        members: Sequence[ServerMember],
        homogeneous: bool | None = None,
    ) -> Targets: ...


def _remembers_nothing(owned: Sequence[Partition], generation: int) -> UserData:
    return UserData(None, None)


@dataclass(frozen=True, slots=True)
class ClientAssignor:
    """An assignor that the group's leader runs.

    `assign(topics, members, replica_racks=None, generation=None)` takes the members in the order in
    which they stand in the leader's
    JoinGroup answer. `remember(owned, generation)` is the user data that a member sends from its
    last assignment on, to be put into
    its next Claim; before the first assignment it is `fresh`. Both outlive a revocation and a new
    member id, not a restart.
    """

    name: str
    java_class: str
    protocols: tuple[str, ...]
    assign: AssignFunction
    remember: Callable[[Sequence[Partition], int], UserData] = _remembers_nothing
    fresh: UserData = UserData(None, None)
    is_checked: bool = (
        True  # whether the leader holds a cooperative assignment against the owned partitions
    )


@dataclass(frozen=True, slots=True)
class ServerAssignor:
    """An assignor that the broker runs under the consumer protocol; `assign(topics, members,
    homogeneous=None)`, see `server_uniform`.
    """

    name: str
    java_class: str
    assign: ServerAssignFunction
    protocols: tuple[str, ...] = (CONSUMER,)


Assignor = ClientAssignor | ServerAssignor

_CLIENT = "org.apache.kafka.clients.consumer."
_SERVER = "org.apache.kafka.coordinator.group.assignor."

CLIENT_ASSIGNORS: dict[str, ClientAssignor] = {
    assignor.name: assignor
    for assignor in (
        ClientAssignor("range", _CLIENT + "RangeAssignor", (EAGER,), range_assignor.assign),
        ClientAssignor("roundrobin", _CLIENT + "RoundRobinAssignor", (EAGER,), round_robin.assign),
        ClientAssignor(
            "sticky", _CLIENT + "StickyAssignor", (EAGER,), sticky.assign, sticky.remember
        ),
        ClientAssignor(
            "cooperative-sticky",
            _CLIENT + "CooperativeStickyAssignor",
            (COOPERATIVE, EAGER),
            cooperative_sticky.assign,
            cooperative_sticky.remember,
            UserData(None, -1),
            is_checked=False,  # trusted by name to withhold what it must
        ),
    )
}
SERVER_ASSIGNORS: dict[str, ServerAssignor] = {
    assignor.name: assignor
    for assignor in (
        ServerAssignor("server-range", _SERVER + "RangeAssignor", server_range.assign),
        ServerAssignor("server-uniform", _SERVER + "UniformAssignor", server_uniform.assign),
    )
}
ASSIGNORS: dict[str, Assignor] = {**CLIENT_ASSIGNORS, **SERVER_ASSIGNORS}
_BY_CLASS: dict[str, Assignor] = {assignor.java_class: assignor for assignor in ASSIGNORS.values()}


def by_name(name: str) -> Assignor:
    """The assignor of this name or Java class."""
    found = ASSIGNORS.get(name) or _BY_CLASS.get(name)
    if found is None:
        raise InputError(
            f"There is no assignor '{name}'{_hint(name)} — write one of {', '.join(ASSIGNORS)}, "
            "or module:function for your own"
        )
    return found


def client_assignor(name: str) -> ClientAssignor:
    """The client assignor of this name or Java class."""
    found = by_name(name)
    if not isinstance(found, ClientAssignor):
        raise InputError(
            f"'{name}' runs on the broker, under the consumer protocol — a consumer's list takes "
            f"{', '.join(CLIENT_ASSIGNORS)}"
        )
    return found


def server_assignor(name: str) -> ServerAssignor:
    """The broker's assignor, by Kafka's name for it (`uniform`, `range`), ours or its Java
    class.
    """
    found = SERVER_ASSIGNORS.get(f"server-{name}") or by_name(name)
    if not isinstance(found, ServerAssignor):
        raise InputError(
            f"'{name}' is a client's assignor — the consumer protocol knows uniform and range"
        )
    return found


def _hint(name: str) -> str:
    from rebalsim.words.nearest import did_you_mean

    meant = did_you_mean(name, ASSIGNORS)
    return f"; {meant}" if meant else ""


def rebalance_protocol(assignors: Iterable[ClientAssignor]) -> str:
    """How a consumer with this list rebalances: the highest protocol that all of them support,
    whichever the group later selects.

    So the default list, range and cooperative-sticky, is eager, and stays so even if the group
    runs cooperative-sticky.
    """
    listed = list(assignors)
    common = [p for p in _BY_RANK if all(p in assignor.protocols for assignor in listed)]
    if not listed or not common:
        names = ", ".join(f"{a.name} ({'/'.join(a.protocols)})" for a in listed)
        raise InputError(
            f"The assignors {names or '(none)'} have no rebalance protocol in common — a Kafka "
            "consumer refuses to start with them"
        )
    return common[-1]
