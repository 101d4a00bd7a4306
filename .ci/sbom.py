#!/usr/bin/env python3
"""A software bill of materials (CycloneDX 1.6, JSON) from the lock, `.ci/constraints.txt`: what is
installed where rebalsim is tested and packaged, by name and version. Standard library only.

    python3 .ci/sbom.py > rebalsim.cdx.json
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+_-]+)$")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def locked(text: str) -> dict[str, str]:
    """Name → version of every line of the lock; ValueError for a line that pins nothing."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not (line := line.partition("#")[0].strip()):
            continue
        pinned = _PINNED.match(line)
        if pinned is None:
            raise ValueError(f".ci/constraints.txt:{number}: '{line}' pins no version")
        found[canonical(pinned[1])] = pinned[2]
    return found


def canonical(name: str) -> str:
    """A package's name as an index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def bill(lock: dict[str, str], project: dict[str, object], version: str) -> dict[str, object]:
    """The document: the same bytes for the same lock."""
    needs = project.get("dependencies", [])
    assert isinstance(needs, list)
    wanted = [canonical(m[0]) for need in needs if (m := _NAME.match(need))]
    me = f"pkg:pypi/rebalsim@{version}"
    components = [
        {"type": "library", "bom-ref": purl(n, v), "name": n, "version": v, "purl": purl(n, v)}
        for n, v in sorted(lock.items())
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": me,
                "name": "rebalsim",
                "version": version,
                "purl": me,
                "licenses": [{"license": {"id": str(project["license"])}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": me, "dependsOn": [purl(n, lock[n]) for n in sorted(wanted) if n in lock]}
        ],
    }


def main() -> int:
    lock = locked((ROOT / ".ci" / "constraints.txt").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    init = (ROOT / "rebalsim" / "__init__.py").read_text("utf-8")
    version = re.search(r'^__version__ = "(.+)"', init, re.MULTILINE)
    assert version is not None
    json.dump(bill(lock, project, version[1]), sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
