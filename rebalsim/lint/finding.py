"""What a rule found: a sentence with figures, and the value it is about. Lines of a file are
looked up later, by whoever has the file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The value a finding is about: whose it is, and its key as a scenario writes it (Kafka's own
    name where Kafka has one).

    Several keys, parted by `|`, mean the first of them that the file gives.
    """

    kind: str  # consumer | group | topic | action | budget | cluster | story
    name: str = ""  # the consumer's, group's, topic's or action's
    key: str = ""
    line: int = 0  # where the finder knows it already (actions, budgets)
    column: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """`message` says what is wrong with the value shown — and, after the dash, what to write
    instead.
    """

    message: str
    place: Place
    # told only where the file itself gives the value, not where a stock variant or a default does
    only_if_said: bool = False
    # what the message says to write, where that can be played: Kafka's keys, or handler.…, life.…,
    # streams.… of the group, connectors.NAME.…, topics.NAME.…, script.LINE.… of an action
    fix: tuple[tuple[str, str], ...] = ()
