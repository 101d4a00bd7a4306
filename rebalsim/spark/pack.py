"""An archive that brings rebalsim to workers whose Python has none: this package and what its
simulation needs, pure Python, as one zip.

Spark puts such a zip on every worker's path (spark.submit.pyFiles). PySpark itself and pyarrow
must be on the workers already, as for any Python on Spark; PyYAML goes without its compiled
half.
"""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

from rebalsim.domain.errors import InputError

NEEDED = ("rebalsim", "simpy", "yaml")
_WHEN = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is built


def build_pack(target: str | Path) -> int:
    """Write the archive; its size in bytes."""
    path = Path(target)
    if path.is_dir():
        raise InputError(f"{path} is a folder — name the archive, such as {path / 'rebalsim.zip'}.")
    fresh = path.with_name(f".{path.name}.new")
    try:
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in NEEDED:
                spec = importlib.util.find_spec(name)
                if spec is None or not spec.submodule_search_locations:
                    raise InputError(
                        f"The package {name} cannot be found, so it cannot be packed — pip "
                        "install rebalsim again."
                    )
                root = Path(next(iter(spec.submodule_search_locations)))
                for file in sorted(root.rglob("*")):
                    if (
                        file.is_file()
                        and file.suffix in (".py", ".yaml", ".json", ".html", ".js", ".css", ".txt")
                        and "__pycache__" not in file.parts
                    ):
                        info = zipfile.ZipInfo(str(Path(name) / file.relative_to(root)), _WHEN)
                        info.compress_type = zipfile.ZIP_DEFLATED
                        info.external_attr = 0o644 << 16
                        archive.writestr(info, file.read_bytes())
        fresh.replace(path)
    except OSError as e:
        raise InputError(f"{path} cannot be written: {e.strerror or e}.") from None
    finally:
        fresh.unlink(missing_ok=True)
    return path.stat().st_size
