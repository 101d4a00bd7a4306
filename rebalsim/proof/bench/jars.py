"""Where the real Kafka is on this machine: its jars, given, found in Maven's local repository,
or fetched there by Maven.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

KAFKA = "4.3.1"


def client_classpath(given: Path | None = None, fetch: bool = True) -> str | None:
    """A classpath with Kafka's client assignors; None if there is no Java, or no jars and no way
    to get them.
    """
    if shutil.which("java") is None:
        return None
    if given is not None:
        jars = sorted(given.rglob("kafka-clients-*.jar")) and sorted(given.rglob("*.jar"))
        return os.pathsep.join(map(str, jars)) or None
    found = _in_repository()
    if found is None and fetch and shutil.which("mvn") is not None:
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
        try:
            subprocess.run(
                ["mvn", "-q", "-B", goal, f"-Dartifact=org.apache.kafka:kafka-clients:{KAFKA}"],
                check=False,
                capture_output=True,
                timeout=180,
            )
        except subprocess.TimeoutExpired:
            return None
        found = _in_repository()
    return found


def _in_repository() -> str | None:
    repository = Path.home() / ".m2" / "repository" / "org"
    clients = (
        repository / "apache" / "kafka" / "kafka-clients" / KAFKA / f"kafka-clients-{KAFKA}.jar"
    )
    logging = sorted((repository / "slf4j" / "slf4j-api").glob("*/slf4j-api-*.jar"))
    return (
        os.pathsep.join((str(clients), str(logging[-1]))) if clients.is_file() and logging else None
    )
