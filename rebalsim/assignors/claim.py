"""What a client assignor is given for each member, and what it answers.

A member that joins sends its subscription: the topics it wants and, depending on the assignor,
what it holds already. Here that is a `Claim`. The answer is an `Assignment`: every member, and
the partitions it shall have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rebalsim.domain.errors import RebalsimError
from rebalsim.domain.ids import Partition

Topics = Mapping[str, int]  # the topics of the leader's metadata → number of partitions
# topic → for each partition the racks of its replicas
ReplicaRacks = Mapping[str, Sequence[Sequence[str | None]]]
Assignment = dict[str, list[Partition]]  # member id → its partitions; every member has an entry


class UserData(NamedTuple):
    """What an assignor writes into the next subscription about the last assignment: it is how
    `sticky` remembers.
    """

    owned: tuple[Partition, ...] | None
    generation: int | None


@dataclass(frozen=True, slots=True)
class Claim:
    """One member's subscription, as the group's leader sees it.

    `owned` and `owned_generation` are fields of the subscription (an EAGER member has revoked
    everything before it joins and owns
    nothing). `user_owned` and `user_generation` are the assignor's own user data, written at the
    member's last assignment, which
    outlive the revocation: see `ClientAssignor.remember`.
    """

    member_id: str
    topics: tuple[str, ...] = ()
    instance_id: str | None = None
    rack: str | None = None
    owned: tuple[Partition, ...] = ()
    owned_generation: int = -1  # -1: none
    user_owned: tuple[Partition, ...] | None = None  # None: no user data
    user_generation: int | None = None  # None: the user data says none


def by_seniority(claim: Claim) -> tuple[int, str]:
    """Kafka's order of members (`AbstractPartitionAssignor.MemberInfo`): static ones first, by
    instance id; then the rest, by member id.
    """
    return (1, claim.member_id) if claim.instance_id is None else (0, claim.instance_id)


class AssignmentFailed(RebalsimError):
    """The assignor gave up or broke, as Kafka's would with an exception; the rebalance that
    asked fails.
    """
