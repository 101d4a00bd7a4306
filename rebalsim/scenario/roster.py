"""Who is in a group, and who could be: names, numbers and processes of its consumers as the script
goes on.

Only what the file says is known here; whoever is gone by chance is the simulation's business.
Names of new members follow from those before: c3 after c2, orders-12 after orders-11.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written


@dataclass(slots=True, eq=False)
class Seat:
    """One consumer's place in its group. `number` fills {n}; `line` is where it came to be
    known, `gone_line` where it left.
    """

    name: str
    number: int
    process: str
    pod: int
    within: int
    rack: str
    layers: tuple[Written, ...]
    node: Node
    is_running: bool = True
    gone_line: int = 0
    gone_how: str = ""
    deployed: list[Written] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Roster:
    """A group's consumers, by name and in order of appearance."""

    group: str
    prefix: str
    pattern: str
    per_process: int
    racks: tuple[str, ...]
    seats: dict[str, Seat] = field(default_factory=dict)
    deployed_to_all: list[Written] = field(default_factory=list)
    spare: int = 0  # the next number for a new name
    streams: Written | None = None  # the Streams application that it is
    # instance id → who has it, once somebody asked
    static_ids: dict[str, str] = field(default_factory=dict)
    base: tuple[Written, ...] = ()  # the group's own layers, for those who join later
    overrides: dict[str, tuple[Written, ...]] = field(default_factory=dict)

    def add(
        self,
        name: str,
        number: int,
        layers: tuple[Written, ...],
        node: Node,
        process: str = "",
        rack: str = "",
    ) -> Seat:
        place = len(self.seats)
        pod, within = divmod(place, self.per_process)
        if not process and self.per_process > 1:
            process = f"{self.prefix}p{pod}"
        if not rack and self.racks:
            rack = self.racks[pod % len(self.racks)]
        seat = Seat(
            name,
            number,
            process,
            pod,
            within,
            rack,
            layers,
            node,
            deployed=list(self.deployed_to_all),
        )
        self.seats[name] = seat
        return seat

    def next_name(self, taken: dict[str, Seat]) -> tuple[str, int]:
        """A name that nobody has yet, and its number."""
        while True:
            number, self.spare = self.spare, self.spare + 1
            name = self.pattern.replace("{n}", str(number))
            if name not in taken:
                return name, number

    @property
    def running(self) -> list[Seat]:
        return [s for s in self.seats.values() if s.is_running]

    def together_with(self, seats: list[Seat]) -> list[Seat]:
        """These and everybody who shares a process with one of them, in the roster's order."""
        processes = {s.process: None for s in seats if s.process}
        if not processes:
            return seats
        names = {s.name: None for s in seats}
        return [
            s
            for s in self.seats.values()
            if s.name in names or (s.process in processes and s.is_running)
        ]


def fill(pattern: str, seat: Seat) -> str:
    """`orders-{n}` for this consumer."""
    if "{" not in pattern:
        return pattern
    return (
        pattern.replace("{n}", str(seat.number))
        .replace("{pod}", str(seat.pod))
        .replace("{i}", str(seat.within))
        .replace("{name}", seat.name)
        .replace("{process}", seat.process or seat.name)
        .replace("{rack}", seat.rack)
    )


PLACEHOLDERS = ("{n}", "{pod}", "{i}", "{name}", "{process}", "{rack}")
