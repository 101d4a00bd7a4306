"""Is there what Spark needs? One line each on what is missing and what to install, before
anything is started.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from rebalsim.domain.errors import Missing

OLDEST_JAVA = 17
_HOW = (
    "Debian or Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17; or "
    "point JAVA_HOME at one"
)


def java_command() -> str:
    """The java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.exists():
            raise Missing(
                f"JAVA_HOME is {home}, and there is no bin/java in it. Spark needs Java "
                f"{OLDEST_JAVA} or newer — {_HOW}."
            )
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise Missing(f"No Java was found. Spark needs Java {OLDEST_JAVA} or newer — {_HOW}.")
    return found


def java_major(version_text: str) -> int | None:
    """17 of `openjdk version "17.0.15" …`, 8 of `java version "1.8.0_392"`."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', version_text)
    if not found:
        return None
    return int(found[2] or 0) if found[1] == "1" else int(found[1])


def check_java() -> int:
    """The major version of the Java at hand; Missing says what to install where there is none,
    or an old one.
    """
    java = java_command()
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Missing(
            f"{java} cannot be run ({e}). Spark needs Java {OLDEST_JAVA} or newer — {_HOW}."
        ) from e
    major = java_major(told.stderr + told.stdout)
    if major is None:
        said = (told.stderr + told.stdout).strip().splitlines()
        heard = (
            f"it says: {said[0][:100]}"
            if said
            else f"it says nothing and ends with {told.returncode}"
        )
        raise Missing(
            f"{java} does not say which Java it is ({heard}). Spark needs Java {OLDEST_JAVA} or "
            f"newer — {_HOW}."
        )
    if major < OLDEST_JAVA:
        raise Missing(
            f"{java} is Java {major}, and Spark needs Java {OLDEST_JAVA} or newer — {_HOW}."
        )
    return major


def check_packages() -> None:
    """PySpark and pyarrow are optional for rebalsim, and both are needed here."""
    gone = [name for name in ("pyspark", "pyarrow") if importlib.util.find_spec(name) is None]
    if gone:
        raise Missing(
            f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} not installed. Sweeps run "
            "on Spark — pip install 'rebalsim[spark]'."
        )


def check_spark() -> int:
    check_packages()
    return check_java()
