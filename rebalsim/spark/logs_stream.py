"""`spark.readStream.format("rebalsim-logs")`: the facts of files as they come and as they grow.

Spark's own file source takes a file once, by its name: what is appended to it later is never read. Here a
file is read whenever its size or its time has changed. With `bookmarks`, a folder that all workers see,
it is read on from where it was read to, and marks among the rows say which of its former ones are replaced;
without, or where the bookmark is of another file (it was rotated, truncated, written anew), as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from rebalsim.domain.errors import InputError
from rebalsim.spark.arrow import batches_of
from rebalsim.spark.logs_files import FACT_DDL, Changed, GrownFiles, SomeFiles, rows_of, shared_out
from rebalsim.spark.logs_marks import rows_on
from rebalsim.worlds.logs.sources import sources_in

Offset = dict[str, str]  # of each file its size and its time


class LogsStreamReader(DataSourceStreamReader):  # type: ignore[misc]
    """What has changed since the last batch, shared out among tasks."""

    def __init__(self, path: str, tasks: int, bookmarks: str = "") -> None:
        self._path, self._tasks, self._bookmarks = path, tasks, bookmarks

    def initialOffset(self) -> dict[str, Any]:
        """Nothing was read."""
        return {"files": "{}"}

    def latestOffset(self, *_: Any) -> dict[str, Any]:
        """Every file as it is now."""
        return {"files": json.dumps(seen_in(self._path), sort_keys=True)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The files that are new or other than they were."""
        before, now = json.loads(start["files"]), json.loads(end["files"])
        changed = {name for name, state in now.items() if before.get(name) != state}
        if not changed:
            return []
        there = sources_in([self._path])
        files = [(s.name, str(s.path)) for s in there if s.name in changed]
        shares = shared_out(files, self._tasks)
        if not self._bookmarks:
            return [SomeFiles(some) for some in shares]
        return [
            GrownFiles([Changed(n, path, before.get(n, ""), now[n]) for n, path in some])
            for some in shares
        ]

    def read(self, partition: SomeFiles | GrownFiles) -> Iterator[Any]:
        """The facts of some of them."""
        if isinstance(partition, GrownFiles):
            return batches_of(rows_on(partition.changed, Path(self._bookmarks)), FACT_DDL)
        return batches_of(rows_of(partition.files), FACT_DDL)


def seen_in(path: str) -> Offset:
    """Size and time of every log there; a folder may still be empty, and a file go meanwhile."""
    try:
        sources = sources_in([path])
    except InputError:
        return {}
    found: Offset = {}
    for source in sources:
        try:
            state = source.path.stat() if source.path is not None else None
        except OSError:
            continue
        if state is not None:
            found[source.name] = f"{state.st_size} {state.st_mtime_ns}"
    return found
