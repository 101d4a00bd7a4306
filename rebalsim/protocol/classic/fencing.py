"""A request is refused because a younger member holds its instance id: the world is told."""

from __future__ import annotations

from rebalsim.protocol.effects import Effect, Note
from rebalsim.protocol.errors_of_kafka import Error


def note_fenced(error: Error, member_id: str, api: str, out: list[Effect]) -> None:
    """Where that is why the request is refused."""
    if error is Error.FENCED_INSTANCE_ID:
        out.append(Note("Fenced", {"member_id": member_id, "api": api, "error": error.name}))
