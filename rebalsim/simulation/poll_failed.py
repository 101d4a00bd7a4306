"""poll() throws. Positional arguments only: SimPy makes such exceptions anew from their args."""

from __future__ import annotations


class PollFailed(Exception):
    """The name of Kafka's exception, and whether the consumer is beyond use."""

    def __init__(self, name: str, is_fatal: bool) -> None:
        super().__init__(name, is_fatal)
        self.name = name
        self.is_fatal = is_fatal
