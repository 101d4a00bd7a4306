"""A sweep's folder, wherever it is: every look at it goes through Spark's own file systems, so
that s3a:// and abfss:// are as good as a disk.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.documents import parse_json
from rebalsim.spark.bundle import dumps
from rebalsim.spark.session import SparkFailed, reason_in

MANIFEST = "sweep.json"


class Store:
    """One output folder."""

    def __init__(self, spark: Any, out: str) -> None:
        self._jvm = spark.sparkContext._jvm
        self._conf = spark.sparkContext._jsc.hadoopConfiguration()
        self.out = out.rstrip("/") or "/"
        try:
            self._fs = self._jvm.org.apache.hadoop.fs.Path(self.out).getFileSystem(self._conf)
        except Exception as e:
            reason = reason_in(e)
            hint = (
                f" — Spark needs the package that knows {out.partition(':')[0]}://, given with "
                "--conf spark.jars.packages=…"
                if "not found" in reason
                else ""
            )
            raise InputError(f"{out} cannot be reached through Spark: {reason}{hint}.") from None

    def path(self, name: str) -> str:
        return f"{self.out}/{name}"

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.path(name) if name else self.out)

    def exists(self, name: str = "") -> bool:
        return bool(self._fs.exists(self._path(name)))

    def names(self, name: str = "") -> list[str]:
        """What lies in a folder, sorted; nothing where there is none."""
        path = self._path(name)
        if not self._fs.exists(path):
            return []
        if not self._fs.getFileStatus(path).isDirectory():
            raise InputError(f"{self.path(name) if name else self.out} is a file — name a folder.")
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(path))

    def prepare(self) -> None:
        """Make the folder, and find out now whether it can be written to."""
        probe = self._path(".rebalsim-probe")
        try:
            self._fs.mkdirs(self._path(""))
            self._fs.create(probe, True).close()
            self._fs.delete(probe, False)
        except Exception as e:
            raise InputError(f"{self.out} cannot be written to: {reason_in(e)}.") from None

    def clear(self) -> None:
        """Delete what a sweep has written here, and nothing else."""
        for name in (MANIFEST, "runs", "pauses", "points", "budgets", "axes"):
            self._fs.delete(self._path(name), True)

    def read_manifest(self) -> dict[str, Any]:
        if not self.exists(MANIFEST):
            raise InputError(f"{self.out} holds no sweep: there is no {MANIFEST} in it.")
        try:
            text = self.read_text(MANIFEST)
        except LookupError as e:  # as where it no longer is what its checksum says
            raise InputError(
                f"{e} — it is damaged, or was changed by hand: begin anew with --overwrite."
            ) from None
        found = parse_json(text, self.path(MANIFEST))
        if type(found) is not dict or not {"plan", "order"} <= found.keys():
            raise InputError(
                f"{self.path(MANIFEST)} is damaged: it does not say which plan was begun — begin "
                "anew with --overwrite."
            )
        document: dict[str, Any] = found
        return document

    def read_text(self, name: str) -> str:
        """A small file's text; LookupError where there is none, or it cannot be read."""
        try:
            stream = self._fs.open(self._path(name))
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
        except Exception as e:
            raise LookupError(f"{self.path(name)}: {reason_in(e)}") from None

    def write_text(self, name: str, text: str, is_new: bool = False) -> None:
        """A small file. With `is_new` it must not be there yet: FileExistsError."""
        path = self._path(name)
        try:
            stream = self._fs.create(path, not is_new)
        except Exception as e:
            if is_new and self.exists(name):
                raise FileExistsError(name) from None
            raise SparkFailed(f"{self.path(name)} cannot be written: {reason_in(e)}.") from None
        try:
            stream.write(bytearray(text.encode()))
            stream.close()
        except Exception as e:
            if is_new:  # begun by us, and in nobody's way: it holds nothing
                self.delete(name)
            raise SparkFailed(f"{self.path(name)} cannot be written: {reason_in(e)}.") from None

    def delete(self, name: str) -> None:
        """A file or a folder with all in it, if it is there."""
        self._fs.delete(self._path(name), True)

    def changed_at(self, name: str) -> float:
        """When it was last written, in seconds since the epoch; 0 where it is not there."""
        try:
            return float(self._fs.getFileStatus(self._path(name)).getModificationTime()) / 1000
        except Exception:
            return 0.0

    def write_manifest(self, document: dict[str, Any]) -> None:
        """Writes the manifest whole or not at all: as a new file that takes the old one's place."""
        fresh = self._path(f".{MANIFEST}.new")
        try:
            stream = self._fs.create(fresh, True)
            stream.write(bytearray(dumps(document).encode()))
            stream.close()
            self._fs.delete(self._path(MANIFEST), False)
            self._fs.rename(fresh, self._path(MANIFEST))
        except Exception as e:
            raise SparkFailed(f"{self.path(MANIFEST)} cannot be written: {reason_in(e)}.") from None

    def chunks(self, table: str = "runs") -> list[str]:
        """The keys of all chunks of a table, whole or not."""
        names = self.names(table)
        return [name.removeprefix("chunk=") for name in names if name.startswith("chunk=")]

    def finished_chunks(self, table: str = "runs") -> list[str]:
        """The keys of those that were written to their end."""
        return [key for key in self.chunks(table) if self.exists(f"{table}/chunk={key}/_SUCCESS")]
