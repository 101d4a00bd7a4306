"""How long an assignment takes, beside Kafka's own classes in a warm JVM, which are given the same
groups and must answer the same.

Both sides are warm and take the best of many repetitions. Warm means for ours that the partition
objects of a set of topics, which it makes once and shares, are there, as they are in a
simulation from the second rebalance on; "anew" is the time with making them.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rebalsim.assignors.claim import Assignment, Claim
from rebalsim.assignors.registry import ClientAssignor, client_assignor
from rebalsim.assignors.universe import forget_universes
from rebalsim.proof.bench.jars import client_classpath

# assignor, members, topics, partitions per topic, subscriptions, at most so many times Java's time
CASES = [
    ("range", 10, 1, 100, "equal", None),
    ("range", 100, 10, 100, "equal", 3.0),
    ("range", 1000, 10, 1000, "equal", 3.0),
    ("range", 2000, 20, 1000, "equal", None),
    ("cooperative-sticky", 10, 1, 100, "equal", None),
    ("cooperative-sticky", 100, 10, 100, "equal", 3.0),
    ("cooperative-sticky", 1000, 10, 1000, "equal", 3.0),
    ("cooperative-sticky", 2000, 20, 1000, "equal", None),
    ("cooperative-sticky", 50, 20, 25, "unequal", None),
    ("cooperative-sticky", 200, 20, 100, "unequal", 5.0),
]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One kind of assignment: our best time and Java's, and whether both gave the same answer."""

    assignor: str
    members: int
    partitions: int
    subscriptions: str
    what: str  # first, one joins
    ours_ms: float
    anew_ms: float  # ours, making the partition objects too
    java_ms: float | None
    same_answer: bool | None
    goal: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.java_ms is None else self.ours_ms / self.java_ms

    @property
    def ok(self) -> bool:
        """Same answer, and within the goal where there is one. True where there is no Java to
        hold it against.
        """
        return self.same_answer is not False and (
            self.ratio is None or self.goal is None or self.ratio <= self.goal
        )


def measure(jars: Path | None = None, quick: bool = False) -> list[Measurement]:
    """Time all cases. `jars`: a directory with Kafka's jars; None: look for them. Without Java
    its columns stay empty.
    """
    classpath = client_classpath(jars)
    budget_s = 0.3 if quick else 1.5
    java = {} if classpath is None else _java(classpath, budget_s)
    measured = []
    for case in CASES:
        assignor, members, topics, partitions, subscriptions, goal = case
        times, sums = _ours(
            client_assignor(assignor),
            members,
            topics,
            partitions,
            subscriptions == "unequal",
            budget_s,
            anew=False,
        )
        anew, _ = _ours(
            client_assignor(assignor),
            members,
            topics,
            partitions,
            subscriptions == "unequal",
            budget_s / 3,
            anew=True,
        )
        theirs = java.get(_argument(case))
        for i, what in enumerate(("first", "one joins")):
            measured.append(
                Measurement(
                    assignor,
                    members,
                    topics * partitions,
                    subscriptions,
                    what,
                    times[i],
                    anew[i],
                    None if theirs is None else theirs[0][i],
                    None if theirs is None else theirs[1][i] == sums[i],
                    goal,
                )
            )
    return measured


def render(measured: Sequence[Measurement]) -> list[str]:
    """The table, one line a measurement; the cost per thousand partitions shows how it grows."""
    head = (
        f"{'assignor':<18} {'members × partitions':>20}  {'':<9} {'rebalsim':>10} "
        f"{'per 1,000':>9} {'anew':>10}  {'Java':>10} {'ratio':>6}  goal"
    )
    lines = [head]
    for m in measured:
        size = f"{m.members:,} × {m.partitions:,}" + ("*" if m.subscriptions == "unequal" else " ")
        java = f"{m.java_ms:>7.2f} ms" if m.java_ms is not None else "-"
        ratio = "-" if m.ratio is None else f"{m.ratio:.2f}"
        goal = "" if m.goal is None else f"≤ {m.goal:g}" + ("" if m.ok else " MISSED")
        other = "  ANOTHER ANSWER THAN KAFKA'S" if m.same_answer is False else ""
        lines.append(
            f"{m.assignor:<18} {size:>20}  {m.what:<9} {m.ours_ms:>7.2f} ms "
            f"{m.ours_ms * 1000 / m.partitions:>9.3f} "
            f"{m.anew_ms:>7.2f} ms  {java:>10} {ratio:>6}  {goal}{other}"
        )
    lines.append("* unequal subscriptions: every member wants about three topics of four")
    if all(m.java_ms is None for m in measured):
        lines.append(
            "No Java, or no jars of Kafka's clients: give their directory, or install Java and "
            "Maven."
        )
    return lines


def _argument(case: tuple[str, int, int, int, str, float | None]) -> str:
    return ":".join(map(str, case[:5]))


def _ours(
    assignor: ClientAssignor,
    members: int,
    topics: int,
    partitions: int,
    unequal: bool,
    budget_s: float,
    anew: bool,
) -> tuple[list[float], list[int]]:
    counts = {f"t{t}": partitions for t in range(topics)}
    best = [float("inf"), float("inf")]
    sums = [0, 0]
    until = time.perf_counter() + budget_s
    repeats = 0
    while repeats < 5 or time.perf_counter() < until:
        repeats += 1
        given: Assignment = {}
        for i in range(2):
            claims = _claims(members + i, topics, unequal, given)
            if anew:
                forget_universes()
            begin = time.perf_counter()
            given = assignor.assign(counts, claims)
            best[i] = min(best[i], (time.perf_counter() - begin) * 1000)
            sums[i] = sums[i] or _checksum(given)
    return best, sums


def _claims(count: int, topics: int, unequal: bool, before: Assignment) -> list[Claim]:
    """The members that AssignBench.java makes, as claims."""
    claims = []
    for i in range(count):
        member_id = f"c{i}-{(i * 2654435761 + 12345) & 0xFFFFFFFF:08x}"
        wanted = tuple(f"t{t}" for t in range(topics) if not unequal or (i * 7 + t * 3) % 4 != 0)
        had = tuple(before.get(member_id, ()))
        claims.append(
            Claim(member_id, wanted, owned=had, owned_generation=1 if member_id in before else -1)
        )
    return claims


def _checksum(given: Assignment) -> int:
    text = "".join(
        f"{member}={','.join(sorted(map(str, given[member])))}\n" for member in sorted(given)
    )
    return zlib.crc32(text.encode())


def _java(classpath: str, budget_s: float) -> dict[str, tuple[list[float], list[int]]]:
    """Argument → best times and checksums; empty if Java would not run."""
    program = Path(__file__).with_name("AssignBench.java")
    command = [
        "java",
        "-cp",
        classpath,
        str(program),
        str(int(budget_s * 1000)),
        *map(_argument, CASES),
    ]
    try:
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    except (subprocess.SubprocessError, OSError):
        return {}
    rows = [line.split() for line in run.stdout.splitlines()]
    return {
        row[0]: ([float(row[1]), float(row[3])], [int(row[2]), int(row[4])])
        for row in rows
        if len(row) == 5
    }


if __name__ == "__main__":
    results = measure(quick="--quick" in sys.argv)
    sys.stdout.write("\n".join(render(results)) + "\n")
    sys.exit(0 if all(result.ok for result in results) else 1)
