"""`rebalsim doctor`: what is installed, what is missing, and what to do about it.

Nothing is imported that is only looked for, so that it answers at once; `--spark` alone starts
something.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click

import rebalsim
from rebalsim.cli import exits
from rebalsim.domain.errors import RebalsimError

OLDEST_PYTHON = (3, 11)
# distribution → (module, what it is for). A test holds the first two tables to pyproject.toml.
CORE: dict[str, tuple[str, str]] = {
    "click": ("click", "the commands"),
    "PyYAML": ("yaml", "reading scenarios"),
    "rich": ("rich", "the terminal report"),
    "simpy": ("simpy", "the simulation"),
}
SPARK: dict[str, tuple[str, str]] = {
    "pyspark": ("pyspark", "sweeps"),
    "pyarrow": ("pyarrow", "sweeps and their tables"),
}
DEV: dict[str, tuple[str, str]] = {
    "pytest": ("pytest", "the tests"),
    "pytest-xdist": ("xdist", "the tests, in parallel"),
    "hatchling": ("hatchling", "the tests of the wheel"),
    "hypothesis": ("hypothesis", "the tests"),
    "jsonschema": ("jsonschema", "the tests of the schema"),
    "junitparser": ("junitparser", "the tests of JUnit reports"),
    "kafka-python": ("kafka", "the tests of assignors"),
    "mypy": ("mypy", "the tests of types"),
    "prometheus-client": ("prometheus_client", "the tests of OpenMetrics"),
    "ruff": ("ruff", "the tests of style"),
    "zstandard": ("zstandard", "logs that are packed with zstd, and their tests"),
}
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "headless_shell",
)
MAC_BROWSERS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked for. `remedy` says what to do where it is not there;
    `is_needed`: nothing works without it.
    """

    part: str  # core | stories | spark | tests
    name: str
    is_ok: bool
    found: str  # version or place; why not, where it is not there
    remedy: str = ""
    is_needed: bool = False
    is_tried: bool = True  # False: could be found out, and was not


@click.command("doctor", epilog="Example: rebalsim doctor --spark")
@click.option(
    "--spark",
    "starts_spark",
    is_flag=True,
    help="Really start Spark and count to ten with it (some seconds).",
)
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
def command(starts_spark: bool, as_json: bool) -> int:
    """Say what is installed, which Java and browser are found, and what to do about what is
    missing.

    Exit 0 if the core is fine, even where something optional is missing; 2 if something is
    missing that rebalsim cannot do without.
    """
    checks = [*core(), *stories(), *spark(starts_spark), *tests()]
    is_fine = all(check.is_ok for check in checks if check.is_needed)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "schema_version": 1,
                    "rebalsim": rebalsim.__version__,
                    "ok": is_fine,
                    "checks": [
                        {
                            "part": c.part,
                            "name": c.name,
                            "ok": c.is_ok if c.is_tried else None,
                            "needed": c.is_needed,
                            "found": c.found,
                            "remedy": c.remedy,
                        }
                        for c in checks
                    ],
                },
                indent=2,
            )
        )
    else:
        click.echo("\n".join(tell(checks)))
    return exits.WITHIN if is_fine else exits.INVALID


HEADINGS = {
    "core": "The core",
    "stories": "Stock stories",
    "spark": "Spark, for sweeps (optional)",
    "tests": "For the tests (optional)",
}


def tell(checks: list[Check]) -> list[str]:
    """The findings as lines, remedies under what is missing, and a sentence at the end."""
    lines: list[str] = []
    for part, heading in HEADINGS.items():
        lines.append(heading)
        for check in (c for c in checks if c.part == part):
            mark = (
                "?"
                if not check.is_tried
                else "ok"
                if check.is_ok
                else "MISSING"
                if check.is_needed
                else "none"
            )
            lines.append(f"  {mark:<8}{check.name:<18}{check.found}".rstrip())
            if not check.is_ok and check.remedy:
                lines.append(f"{'':24}→ {check.remedy}")
        lines.append("")
    broken = [c.name for c in checks if c.is_needed and not c.is_ok]
    optional = [c.name for c in checks if not c.is_needed and not c.is_ok]
    if broken:
        lines.append(f"rebalsim cannot work without {' and '.join(broken)}.")
    elif optional:
        lines.append(
            "The core is fine. Not there, and needed only for what it says above: "
            f"{', '.join(optional)}."
        )
    else:
        lines.append("All is well.")
    return lines


def core() -> list[Check]:
    python = ".".join(str(n) for n in sys.version_info[:3])
    here = f"{rebalsim.__version__} at {Path(rebalsim.__file__).parent}"
    is_new_enough = sys.version_info >= OLDEST_PYTHON
    newer = "rebalsim needs Python 3.11 or newer: make its environment with one"
    again = "pip install rebalsim again, it brings it along"
    return [
        Check("core", "rebalsim", True, here, is_needed=True),
        Check("core", "Python", is_new_enough, f"{python} at {sys.executable}", newer, True),
        *(_package("core", name, *needed, again, True) for name, needed in CORE.items()),
    ]


def _package(
    part: str, name: str, module: str, use: str, remedy: str, is_needed: bool = False
) -> Check:
    try:
        is_there = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        return Check(part, name, False, f"not installed ({use})", remedy, is_needed)
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    return Check(part, name, True, version, is_needed=is_needed)


def stories() -> list[Check]:
    """Where a clone or a wheel keeps the stock stories."""
    package = Path(rebalsim.__file__).parent
    for place in (package.parent / "scenarios", package / "stock"):
        found = sorted(p.stem for p in place.glob("*.yaml"))
        if found:
            return [Check("stories", "stories", True, f"{len(found)} in {place}")]
    return [
        Check(
            "stories",
            "stories",
            False,
            f"none in {package.parent / 'scenarios'} nor {package / 'stock'}",
            "install rebalsim again, or name scenario files by their paths",
        )
    ]


def spark(starts: bool) -> list[Check]:
    """Packages, Java, and whether they get on with each other."""
    install = "pip install 'rebalsim[spark]'"
    found = [_package("spark", name, *needed, install) for name, needed in SPARK.items()]
    found.append(_java())
    if starts:
        start = _start()
    elif all(check.is_ok for check in found):
        untried = "not tried; `rebalsim doctor --spark` starts it"
        start = Check("spark", "start", True, untried, is_tried=False)
    else:
        start = Check("spark", "start", False, "cannot start without what is missing above")
    return [*found, start]


def _java() -> Check:
    from rebalsim.spark.java import check_java, java_command

    try:
        return Check(
            "spark",
            "Java",
            True,
            f"{check_java()} at "
            f"{java_command()}{' (JAVA_HOME)' if os.environ.get('JAVA_HOME') else ''}",
        )
    except RebalsimError as e:
        what, _, how = str(e).partition(" — ")
        return Check("spark", "Java", False, what, how.rstrip("."))


def _start() -> Check:
    began = time.perf_counter()
    try:
        from rebalsim.spark.session import start_session, stop_session

        session = start_session("local[1]", name="rebalsim doctor")
        count = session.range(10).count()
        stop_session(session)
    except RebalsimError as e:
        return Check("spark", "start", False, str(e), "")
    except Exception as e:
        said = (str(e).splitlines() or [""])[0][:200]
        return Check(
            "spark",
            "start",
            False,
            f"{type(e).__name__}: {said}",
            "check JAVA_HOME, and that pyspark and Java fit",
        )
    return Check(
        "spark", "start", count == 10, f"counted to {count} in {time.perf_counter() - began:.1f} s"
    )


def tests() -> list[Check]:
    """What a developer needs: test packages and a browser."""
    found = [
        _package("tests", name, module, use, "pip install -e '.[dev]' in a clone")
        for name, (module, use) in DEV.items()
    ]
    browser = next((place for name in BROWSERS if (place := shutil.which(name))), None) or next(
        (p for p in MAC_BROWSERS if Path(p).exists()), None
    )
    if browser:
        return [*found, Check("tests", "Chromium", True, str(browser))]
    return [
        *found,
        Check(
            "tests",
            "Chromium",
            False,
            "not found (tests of the HTML report)",
            "Debian or Ubuntu: apt install chromium; macOS: brew install --cask chromium",
        ),
    ]
