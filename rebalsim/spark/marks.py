"""Which rows the facts of a batch replace: its marks, as `logs_marks` writes them, as something to ask."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rebalsim.spark.logs_marks import WHOLE


class Marks:
    """Of each file of a batch, what goes of what it told before, and what of its new facts may change."""

    def __init__(self, files: list[str]) -> None:
        self.files = files
        self._whole = set(files)
        self._first: dict[tuple[str, str], int] = {}  # by file and source: where its rows begin
        self._final: dict[tuple[str, str], int] = {}  # and from where on they may change

    @staticmethod
    def among(rows: Any) -> Marks:
        """The marks of a batch; a file without any tells all that it ever told, which is final."""
        found = Marks(pc.unique(rows["file"]).to_pylist())
        marks = rows.filter(pc.equal(rows["dialect"], ""))
        columns = (marks[name].to_pylist() for name in ("file", "source", "place", "clock", "fact"))
        for file, source, first, final, word in zip(*columns):
            if word != WHOLE:
                found._whole.discard(file)
            found._first[file, source] = first
            found._final[file, source] = int(final)
        return found

    @property
    def grown(self) -> list[str]:
        """The files that tell only what is new."""
        return [file for file in self.files if file not in self._whole]

    def is_whole(self, file: str) -> bool:
        """It tells all that it ever told."""
        return file in self._whole

    def stays_in(self, rows: Any) -> Any:
        """For each of these former rows, whether it stays."""
        others = pc.invert(pc.is_in(rows["file"], value_set=pa.array(self.files, pa.string())))
        if pc.all(others).as_py() is not False:
            return others
        columns = (rows[name].to_pylist() for name in ("file", "source", "place"))
        told = [
            file not in self._whole and place < self._first.get((file, source), 0)
            for file, source, place in zip(*columns)
        ]
        return pc.or_(others, pa.array(told, pa.bool_()))

    def final_of(self, fresh: Any) -> Any:
        """The new rows that will not change."""
        return fresh.filter(self._are_final(fresh))

    def open_of(self, fresh: Any) -> Any:
        """The new rows that may change as their files grow."""
        return fresh.filter(pc.invert(self._are_final(fresh)))

    def _are_final(self, fresh: Any) -> Any:
        columns = (fresh[name].to_pylist() for name in ("file", "source", "place"))
        never = 1 << 62
        told = [
            place < self._final.get((file, source), never) for file, source, place in zip(*columns)
        ]
        return pa.array(told, pa.bool_())
