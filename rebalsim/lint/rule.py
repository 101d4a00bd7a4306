"""What a rule is: its documentation as data. `rebalsim explain RULE` prints it, and every part
of it must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.finding import Finding


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to hurt oneself. Text in plain sentences; `example` may have lines of its own and
    is printed as it is.
    """

    id: str
    heading: str  # under which `rebalsim explain` lists it
    title: str  # one line, as a statement
    what: str  # what the rule looks for, with its threshold
    why: str  # what Kafka does then
    fix: str  # what to write instead
    example: str  # settings, and what they lead to
    source: str  # Kafka's class, config or KIP that makes it true


@dataclass(frozen=True, slots=True)
class Checked:
    """A rule together with what looks for it."""

    rule: Rule
    find: Callable[[Scenario], Iterator[Finding]]
