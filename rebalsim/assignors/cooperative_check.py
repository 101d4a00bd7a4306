"""The check that the leader of a cooperative group makes before it sends an assignment out
(`validateCooperativeAssignment`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.domain.ids import Partition


def check_cooperative(
    name: str, owned: Mapping[str, Iterable[Partition]], given: Mapping[str, Iterable[Partition]]
) -> None:
    """Refuse an assignment that gives a partition to one member while another still owns it: the
    rebalance fails.

    `owned`: by member id, as the subscriptions say. Kafka spares the assignor named
    cooperative-sticky (`is_checked`), whose
    answer may disregard an owner's stale claim.
    """
    lost: dict[Partition, str] = {}
    gained: dict[Partition, str] = {}
    for member, partitions in given.items():
        has = dict.fromkeys(partitions)
        had = dict.fromkeys(owned.get(member, ()))
        gained.update((p, member) for p in has if p not in had)
        lost.update((p, member) for p in had if p not in has)
    direct = sorted(p for p in gained if p in lost)
    if direct:
        p = direct[0]
        more = f" (and {len(direct) - 1} more)" if len(direct) > 1 else ""
        raise AssignmentFailed(
            f"Assignor '{name}' is cooperative but gives {p[0]}-{p[1]}{more} to {gained[p]} "
            f"while {lost[p]} still owns it: "
            "the old owner must revoke it first, in a rebalance of its own"
        )
