"""Files shared out among Spark's tasks, and what each comes to: facts as rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql.datasource import InputPartition

from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.tables import facts_in_file

FACT_DDL = (
    "grp STRING, host STRING, part INT, file STRING, source STRING, place BIGINT, clock STRING, "
    "dialect STRING, fact STRING"
)


class SomeFiles(InputPartition):  # type: ignore[misc]
    """What one task reads: (name, path) of each file."""

    def __init__(self, files: list[tuple[str, str]]) -> None:
        super().__init__(tuple(files))
        self.files = files


class Changed(NamedTuple):
    """A file whose size or time is another: what it was when it was read before (empty: it was not),
    and what it is.
    """

    name: str
    path: str
    before: str
    now: str

    @property
    def until(self) -> int:
        """The bytes that it had when it was seen."""
        return int(self.now.partition(" ")[0])


class GrownFiles(InputPartition):  # type: ignore[misc]
    """What one task reads of files that may have grown."""

    def __init__(self, changed: list[Changed]) -> None:
        super().__init__(tuple(changed))
        self.changed = changed


def shared_out(files: list[tuple[str, str]], tasks: int) -> list[list[tuple[str, str]]]:
    """The files in so many shares of about one size, the largest first."""
    sized = sorted(((Path(path).stat().st_size, name, path) for name, path in files), reverse=True)
    shares: list[tuple[int, list[tuple[str, str]]]] = [(0, []) for _ in range(max(1, tasks))]
    for size, name, path in sized:
        least = min(range(len(shares)), key=lambda n: (shares[n][0], n))
        held, mine = shares[least]
        mine.append((name, path))
        shares[least] = (held + size, mine)
    return [mine for _, mine in shares if mine]


def rows_of(files: list[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """The facts of these files."""
    for name, path in files:
        yield from facts_in_file(name, source_of(name, path).chunks())


def source_of(name: str, path: str) -> Source:
    """A file by the name that it has in its folder."""
    return Source(name, name, Path(path))
