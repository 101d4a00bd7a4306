"""A request that the coordinator turns down; raised before anything of the group has changed."""

from __future__ import annotations

from rebalsim.protocol.errors_of_kafka import Error


class Refusal(Exception):
    """Becomes an answer with this error and text; never leaves the step function."""

    def __init__(self, error: Error, text: str) -> None:
        super().__init__(error, text)
        self.error = error
        self.text = text
