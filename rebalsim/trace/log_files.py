"""Log files taken apart into lines, and the lines gathered by who speaks: one voice a consumer,
over all lives and files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from rebalsim.trace.log_lines import LogLine, take_apart

MOST_CONTINUED = 400  # lines that belong to one log line, at most
_CONFIG = re.compile(r"^\s+([a-z][a-z.]{3,60}) = (.{0,400})$")
_VERSION = re.compile(r"^Kafka version: (\d[\w.-]{0,40})")


@dataclass(slots=True)
class Log:
    """One file's lines, and what it says about its only client."""

    name: str
    lines: list[LogLine] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    kafka: str = ""


@dataclass(slots=True)
class Voice:
    """One consumer's lines over all files that speak for it, in order of time."""

    name: str
    group: str
    lines: list[LogLine]
    instance: str | None = None
    config: dict[str, str] = field(default_factory=dict)


def read_log(name: str, lines: Iterable[str]) -> Log:
    """One file's lines of Kafka's, continuation lines and printed configs with them."""
    log = Log(name)
    client, continued, is_config = "", 0, False
    by_thread: dict[str, LogLine] = {}
    for raw in lines:
        line = take_apart(raw)
        if line is None:
            config = _CONFIG.match(raw.rstrip("\r\n")) if is_config else None
            if config is not None:
                log.config.setdefault(config[1], config[2])
            elif log.lines and raw[:1] in ("\t", " ") and continued < MOST_CONTINUED:
                continued += 1
                log.lines[-1].text += "\n" + raw.rstrip("\r\n")[:2_000]
            continue
        is_config, continued = "ConsumerConfig values" in line.text, 0
        version = _VERSION.match(line.text)
        if version is not None:
            log.kafka = version[1]
        if line.client:
            client = line.client
            by_thread[line.thread] = line
        elif not line.is_broker:
            same = by_thread.get(
                line.thread
            )  # some loggers know no prefix: the thread's last speaker it was
            if same is not None:
                line.client, line.group, line.instance = same.client, same.group, same.instance
            else:
                line.client = client
        if line.client or line.is_broker:
            log.lines.append(line)
    return log


def voices_in(logs: Sequence[Log], group: str) -> list[Voice]:
    """Consumers by name. One client id in several files is one consumer with several lives,
    unless the files speak at the same time.
    """
    parts: dict[tuple[str, str], list[tuple[list[LogLine], Log]]] = {}
    for log in logs:
        mine: dict[tuple[str, str], list[LogLine]] = {}
        owner: dict[str, str] = {}
        for line in log.lines:
            if line.is_broker:
                continue
            if line.group:
                owner[line.client] = line.group
            of = line.group or owner.get(line.client, "")
            if of and (not group or of == group):
                mine.setdefault((of, line.client), []).append(line)
        for key, lines in mine.items():
            lines.sort(key=lambda x: x.at_us)
            parts.setdefault(key, []).append((lines, log))
    voices: list[Voice] = []
    for (of, client), found in sorted(parts.items()):
        found.sort(key=lambda part: part[0][0].at_us)
        overlap = any(a[0][-1].at_us > b[0][0].at_us for a, b in pairwise(found))
        chunks = [[part] for part in found] if overlap else [found]
        for chunk in chunks:
            lines = [line for part in chunk for line in part[0]]
            name = f"{client}@{Path(chunk[0][1].name).stem}" if overlap else client
            config = {key: value for part in chunk for key, value in part[1].config.items()}
            instance = next((line.instance for line in lines if line.instance), None)
            voices.append(Voice(name or "consumer", of, lines, instance, config))
    seen: dict[str, int] = {}
    for voice in voices:  # the same client id in two groups
        seen[voice.name] = seen.get(voice.name, 0) + 1
        if seen[voice.name] > 1:
            voice.name = f"{voice.name}@{voice.group}"
    return voices
