"""What groups tell of themselves."""

from __future__ import annotations

from typing import Any, Protocol

from rebalsim.protocol.effects import Effect, Note


class HasState(Protocol):
    """A group whose state is an enum's."""

    @property
    def state(self) -> Any: ...

    @property
    def epoch(self) -> int: ...


def note(kind: str, **facts: Any) -> Note:
    """See effects.Note."""
    return Note(kind, facts)


def state_changed(before: Any, after: Any, generation: int, **why: str) -> Note:
    """A group went from one state to another. `why`: trigger, member_id and reason, where there
    is one to tell.
    """
    return note(
        "GroupStateChanged", before=before.value, after=after.value, generation=generation, **why
    )


def tell_state(group: HasState, before: Any, effects: list[Effect]) -> None:
    """A step may have changed the group's state."""
    after = group.state
    if after is not before:
        unsaid = {"trigger": "", "member_id": "", "reason": ""}
        effects.append(state_changed(before, after, group.epoch, **unsaid))
