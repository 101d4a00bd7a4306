"""As of when a client knows the brokers' topics: it asks for them every metadata.max.age.ms."""

from __future__ import annotations

from rebalsim.simulation.streams.port import Port


class Metadata:
    """One consumer's."""

    def __init__(self, port: Port, age_us: int) -> None:
        self._port, self._age_us = port, age_us
        self._born_us = port.now
        self._refreshed_us = 0  # out of turn

    @property
    def as_of_us(self) -> int:
        turns = (self._port.now - self._born_us) // self._age_us
        return max(self._refreshed_us, self._born_us + turns * self._age_us)

    @property
    def due_us(self) -> int:
        """When it asks next."""
        return self.as_of_us + self._age_us

    def refreshed(self) -> None:
        self._refreshed_us = self._port.now
