"""A sweep's folder, wherever it is: every look at it goes through Spark's own file systems, so
that s3a:// and abfss:// are as good as a disk.
"""

from __future__ import annotations

import json
from typing import Any

from rebalsim.domain.errors import InputError
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
        """Throw away what a sweep has written here, and nothing else."""
        for name in (MANIFEST, "runs", "pauses", "points", "budgets", "axes"):
            self._fs.delete(self._path(name), True)

    def read_manifest(self) -> dict[str, Any]:
        if not self.exists(MANIFEST):
            raise InputError(f"{self.out} holds no sweep: there is no {MANIFEST} in it.")
        stream = self._fs.open(self._path(MANIFEST))
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        document: dict[str, Any] = json.loads(text)
        return document

    def write_manifest(self, document: dict[str, Any]) -> None:
        """Whole or not at all: a new file that takes the old one's place."""
        fresh = self._path(f".{MANIFEST}.new")
        try:
            stream = self._fs.create(fresh, True)
            stream.write(bytearray(dumps(document).encode()))
            stream.close()
            self._fs.delete(self._path(MANIFEST), False)
            self._fs.rename(fresh, self._path(MANIFEST))
        except Exception as e:
            raise SparkFailed(f"{self.path(MANIFEST)} cannot be written: {reason_in(e)}.") from None

    def finished_chunks(self) -> list[str]:
        """The keys of the chunks of `runs` that are complete."""
        keys = [
            name.removeprefix("chunk=") for name in self.names("runs") if name.startswith("chunk=")
        ]
        return [key for key in keys if self.exists(f"runs/chunk={key}/_SUCCESS")]
