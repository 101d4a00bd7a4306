"""What comes with rebalsim, and what it comes from: the licence, the software bill, the audit."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from rebalsim import __version__

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "constraints.txt"


def test_the_licence_is_apaches_second_whole() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text and "Version 2.0, January 2004" in text
    assert "9. Accepting Warranty or Additional Liability" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "Apache-2.0" and project["license-files"] == ["LICENSE"]


def test_a_wheel_is_built_without_a_network_and_holds_the_licence(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("WITHOUT A NETWORK NO WHEEL IS BUILT HERE: hatchling is not installed")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"),
            *("--no-index", "--quiet", "--wheel-dir", str(tmp_path), str(ROOT)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert any(n.endswith("licenses/LICENSE") for n in zipfile.ZipFile(wheel).namelist())


def test_what_is_pinned_is_this_version() -> None:
    """The tag that templates and pages name, the newest notes and the package agree."""
    notes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", notes, re.MULTILINE)[0] == __version__
    pages = [ROOT / ".ci" / "gitlab-template.yml", *sorted((ROOT / "docs").glob("*.md"))]
    pinned = {
        tag
        for page in pages
        for tag in re.findall(r"(?:@|ref: )(v?\d+\.\d+\.\d+)", page.read_text("utf-8"))
    }
    assert pinned == {f"v{__version__}"}


def bill() -> dict[str, object]:
    made = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "sbom.py")], capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(made.stdout)
    return found


def test_the_software_bill_names_every_package_of_the_lock() -> None:
    found = bill()
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    components = found["components"]
    assert isinstance(components, list)
    pinned = [line for line in LOCK.read_text("utf-8").splitlines() if "==" in line]
    assert len(components) == len(pinned) > 20
    refs = {c["bom-ref"] for c in components}
    assert len(refs) == len(components)
    assert {c["purl"] for c in components} >= {f"pkg:pypi/click@{version_of('click')}"}
    (depends,) = found["dependencies"]  # type: ignore[misc]
    assert len(depends["dependsOn"]) == 4 and set(depends["dependsOn"]) <= refs


def version_of(name: str) -> str:
    line = next(x for x in LOCK.read_text("utf-8").splitlines() if x.startswith(f"{name}=="))
    return line.partition("==")[2]


def test_the_software_bill_is_the_same_each_time() -> None:
    assert bill() == bill()


def holes_in(report: str) -> dict[str, list[str]]:
    """Package → its known holes, of an audit's report. One that was not made of every package of the
    lock is skipped, whatever it found in the others: pip-audit is green where its database
    knows no package at all.
    """
    try:
        asked = json.loads(report)["dependencies"]
    except ValueError:
        pytest.skip("THE AUDIT IS NOT MADE: its database cannot be reached from here")
    found = {
        package["name"]: [hole["id"] for hole in package["vulns"]]
        for package in asked
        if package.get("vulns")
    }
    unknown = [package["name"] for package in asked if "skip_reason" in package]
    if unknown and not found:
        pytest.skip(f"THE AUDIT IS NOT MADE: its database does not know {', '.join(unknown)}")
    return found


def reported(**packages: dict[str, object]) -> str:
    asked = [{"name": name, **told} for name, told in packages.items()]
    return json.dumps({"dependencies": asked, "fixes": []})


def test_an_audit_that_was_made_of_nothing_was_green() -> None:
    holes: dict[str, object] = {"version": "1", "vulns": [{"id": "PYSEC-1"}]}
    sound: dict[str, object] = {"version": "1", "vulns": []}
    unknown: dict[str, object] = {"skip_reason": "not found on PyPI"}
    assert holes_in(reported(click=sound, rich=sound)) == {}
    assert holes_in(reported(click=unknown, rich=holes)) == {"rich": ["PYSEC-1"]}
    for report in (reported(click=sound, rich=unknown), ""):
        with pytest.raises(pytest.skip.Exception, match="THE AUDIT IS NOT MADE"):
            holes_in(report)


@pytest.mark.audit
def test_no_package_of_the_lock_has_a_known_hole() -> None:
    """`pytest -m audit`: asks the database of vulnerabilities, so it needs a network and pip-audit."""
    if importlib.util.find_spec("pip_audit") is None:
        pytest.skip("THE AUDIT IS NOT MADE: pip-audit is not installed (`pip install pip-audit`)")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json"),
            *("--progress-spinner=off", "-r", str(LOCK)),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert holes_in(done.stdout) == {}, done.stdout
