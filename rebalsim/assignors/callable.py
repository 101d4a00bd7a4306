"""The user's own assignor: a Python callable named as `module:function`, run only where that was
allowed.

The callable takes what Kafka's client assignors here take, `(topics, members, replica_racks,
generation)` with a Claim per member, or only the first two of them, and returns {member id:
partitions}. It says `protocols = ("eager",)` or such as an attribute; without, it is eager, as
in Kafka.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalsim.assignors.claim import Assignment, AssignmentFailed, Claim, ReplicaRacks, Topics
from rebalsim.assignors.registry import ClientAssignor
from rebalsim.domain.ids import Partition
from rebalsim.domain.own_code import imported, protocols_said


def load_callable(name: str, code_from: str) -> ClientAssignor:
    """The assignor that `module:function` names, looked for in this folder too. Importing a module
    runs it: without a folder it is refused.
    """
    found = imported(name, code_from)
    return ClientAssignor(name, name, protocols_said(name, found), _checked(name, found))


def _checked(name: str, found: Callable[..., Any]) -> Any:
    """The callable, its answer brought into shape; whatever it raises or gets wrong fails the
    rebalance, not rebalsim.
    """

    takes = _arguments(found)

    def assign(
        topics: Topics,
        members: Sequence[Claim],
        replica_racks: ReplicaRacks | None = None,
        generation: int | None = None,
    ) -> Assignment:
        try:
            answer = found(*(topics, members, replica_racks, generation)[:takes])
        except Exception as e:
            raise AssignmentFailed(f"Assignor '{name}' raised {type(e).__name__}: {e}") from e
        if not isinstance(answer, Mapping):
            raise AssignmentFailed(
                f"Assignor '{name}' answered with a {type(answer).__name__}, not with {{member "
                f"id: partitions}}"
            )
        given: Assignment = {member.member_id: [] for member in members}
        owner: dict[Partition, str] = {}
        for member_id, partitions in answer.items():
            if member_id not in given:
                raise AssignmentFailed(
                    f"Assignor '{name}' gives partitions to '{member_id}', which is not in the "
                    "group"
                )
            for entry in partitions:
                partition = _partition(name, entry, topics)
                if partition in owner:
                    raise AssignmentFailed(
                        f"Assignor '{name}' gives {partition} to {owner[partition]} and to "
                        f"{member_id}"
                    )
                owner[partition] = member_id
                given[member_id].append(partition)
        return given

    return assign


def _arguments(found: Callable[..., Any]) -> int:
    try:
        inspect.signature(found).bind(None, None, None, None)
    except TypeError:
        return 2
    except ValueError:  # built-in things do not say
        pass
    return 4


def _partition(name: str, entry: Any, topics: Topics) -> Partition:
    if isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2:
        topic, number = entry
        if (
            isinstance(topic, str)
            and isinstance(number, int)
            and 0 <= number < topics.get(topic, 0)
        ):
            return Partition(topic, number)
    raise AssignmentFailed(
        f"Assignor '{name}' gives out {entry!r}, which is not a (topic, number) of the topics it "
        "was shown"
    )
