"""Rows in Parquet files below folders that are named by a column (`day=2026-11-19`), as Spark keeps them:
some are taken out and others put in, and only those files are written anew that hold some of them.

What a stream brings with each batch goes into small files beside the large ones, and many small ones
become one: so a batch costs what it brings, however much there is already. Whenever the process is cut
off, each row is there once, as soon as another goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_MANY = 8  # small files in one folder, which become one
_MERGED = ".merged-"  # before the name of a file: those that became it, until they are gone
_SMALL = (
    2  # a file joins those that are smaller if it is at most so many times as large as all of them
)
_TYPES = {"STRING": pa.string(), "INT": pa.int32(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}


def schema_of(columns: Iterable[tuple[str, str]]) -> Any:
    """Arrow's schema for (name, Spark's type)."""
    return pa.schema([(name, _TYPES[type_]) for name, type_ in columns])


class ParquetFolders:
    """The rows below `place`, in a folder for each value of `folders`; they are found again by `keys`, and
    stand in each file by `order`. One process writes at a time.
    """

    def __init__(
        self, place: Path, folders: str, keys: Sequence[str], order: Sequence[str]
    ) -> None:
        self._place, self._folders = place, folders
        self._keys, self._order = tuple(keys), [(name, "ascending") for name in order]
        self._held: dict[Path, dict[str, frozenset[Any]]] = {}  # of each file its keys' values
        for begun in place.glob(f"{folders}=*/{_MERGED}*"):
            self._end_merging(begun)  # the process that began it was cut off

    def rows_of(self, key: str, values: Iterable[str]) -> Any:
        """The rows with these values, without the folders' column; None where there are none."""
        wanted = frozenset(values)
        read = (_read(file) for file in self._holding(key, wanted))
        found = [rows.filter(_are(rows, key, wanted)) for rows in read]
        return pa.concat_tables(found) if found else None

    def all_rows(self) -> Any:
        """Every row; None where there is none."""
        found = [_read(file) for file in sorted(_files_in(self._place))]
        return pa.concat_tables(found) if found else None

    def take_out(self, key: str, values: Iterable[str]) -> None:
        """Remove the rows with these values."""
        gone = frozenset(values)
        self.keep(key, gone, lambda rows: pc.invert(_are(rows, key, gone)))

    def keep(self, key: str, values: Iterable[str], stays: Callable[[Any], Any]) -> None:
        """Of the files that hold rows with these values, the rows that stay, as `stays` says of each."""
        for file in self._holding(key, frozenset(values)):
            rows = _read(file)
            kept = rows.filter(stays(rows))
            if not kept.num_rows:
                self._remove(file)
            elif kept.num_rows < rows.num_rows:
                self._put(file, kept)

    def put_in(self, rows: Any) -> None:
        """These rows come; they have the folders' column, too."""
        for value in sorted(pc.unique(rows[self._folders]).to_pylist()):
            mine = rows.filter(pc.equal(rows[self._folders], value))
            folder = self._place / f"{self._folders}={value}"
            self._write(folder, mine.drop_columns([self._folders]))
            self._merge(folder)

    def _holding(self, key: str, values: frozenset[str]) -> list[Path]:
        """The files that hold such rows, whoever wrote them."""
        there = set(_files_in(self._place))
        self._held = {file: held for file, held in self._held.items() if file in there}
        for file in there - set(self._held):
            columns = pq.ParquetFile(file).read(columns=list(self._keys))
            self._held[file] = _values_in(columns, self._keys)
        return sorted(file for file, held in self._held.items() if held[key] & values)

    def _write(self, folder: Path, rows: Any) -> None:
        """A new file, which nobody sees before it is whole."""
        if not rows.num_rows:
            return
        folder.mkdir(parents=True, exist_ok=True)
        self._put(_next_in(folder), rows)

    def _put(self, file: Path, rows: Any) -> None:
        """These rows in a file of this name, in place of the one that may be there, in one step."""
        hidden = file.with_name(f".{file.name}")
        pq.write_table(rows.sort_by(self._order), hidden, compression="zstd")
        _crc_of(file).unlink(missing_ok=True)
        hidden.replace(file)
        self._held[file] = _values_in(rows, self._keys)

    def _remove(self, file: Path) -> None:
        file.unlink()
        _crc_of(file).unlink(missing_ok=True)
        self._held.pop(file, None)

    def _merge(self, folder: Path) -> None:
        """Small files become one as they grow many, so that no row is written again more often than its
        folder has doubled.
        """
        sized = sorted((pq.read_metadata(f).num_rows, f) for f in _files_of(folder))
        few: list[Path] = []
        total = 0
        for size, file in sized:
            if few and size > total * _SMALL:
                break
            few.append(file)
            total += size
        if len(few) >= _MANY:
            merged = _next_in(folder)
            begun = folder / f"{_MERGED}{merged.name}"
            begun.write_text("\n".join(file.name for file in few), "utf-8")
            self._put(merged, pa.concat_tables([_read(file) for file in few]))
            self._end_merging(begun)

    def _end_merging(self, begun: Path) -> None:
        """The small files go, if the one that they became is there."""
        if begun.with_name(begun.name.removeprefix(_MERGED)).exists():
            for name in begun.read_text("utf-8").splitlines():
                if (begun.parent / name).exists():
                    self._remove(begun.parent / name)
        begun.unlink()


def _next_in(folder: Path) -> Path:
    """The name of a file that is not there yet."""
    numbers = [int(p.stem[5:]) for p in folder.glob("rows-*.parquet") if p.stem[5:].isdigit()]
    return folder / f"rows-{max(numbers, default=0) + 1:08d}.parquet"


def _crc_of(file: Path) -> Path:
    """What Spark writes beside its own files."""
    return file.with_name(f".{file.name}.crc")


def _files_in(place: Path) -> Iterator[Path]:
    if place.is_dir():
        for folder in place.iterdir():
            if "=" in folder.name and folder.is_dir():
                yield from _files_of(folder)


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder that Spark reads, too: what is hidden is not whole yet."""
    return [p for p in folder.glob("*.parquet") if p.name[0] not in "._"]


def _read(file: Path) -> Any:
    return pq.ParquetFile(file).read()


def _are(rows: Any, key: str, values: frozenset[str]) -> Any:
    """Of each row, whether it has one of these values."""
    return pc.is_in(rows[key], value_set=pa.array(sorted(values), pa.string()))


def _values_in(rows: Any, keys: Sequence[str]) -> dict[str, frozenset[Any]]:
    return {key: frozenset(pc.unique(rows[key]).to_pylist()) for key in keys}
