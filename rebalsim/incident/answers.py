"""What a scenario asks for, answered from logs."""

from __future__ import annotations

import re
from collections import Counter

from rebalsim.incident.calibrate import FEW, Calibration, drawn
from rebalsim.incident.growth import partitions_in
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import FactKind

_ASK = re.compile(r"^(?P<head>\s*(?P<key>[\w.]+):\s*)(?P<value>.*?)(?P<pad>\s+)# ASK:.*$")
_LIST = re.compile(r"\[([\w.-]+)\]")


def answered(text: str, found: Calibration) -> tuple[str, list[str]]:
    """A scenario with its `# ASK:`s answered as far as the logs do, and which were."""
    text, renamed = _with_topic(text, found)
    answers = _answers(found)
    lines, told = [], [renamed] if renamed else []
    topic = ""
    for line in text.splitlines():
        named = re.match(r"^  ([\w.\"-]+):\s*(?:#.*)?$", line)
        topic = named[1].strip('"') if named is not None else topic
        ask = _ASK.match(line)
        key = ask["key"] if ask is not None else ""
        answer = answers.get(f"{key} {topic}") or answers.get(key)
        if ask is not None and answer is not None:
            value, why = answer
            head = ask["head"]
            if key == "per_record":  # logs tell of batches, not of their records
                key, head = "per_batch", head.replace("per_record", "per_batch")
            line = f"{head}{value}{ask['pad']}# measured: {why}"
            told.append(f"{key}: {value} ({why})")
        lines.append(line)
    return "\n".join(lines) + "\n", told


def _with_topic(text: str, found: Calibration) -> tuple[str, str]:
    """The scenario with the topic's real name where it asks for it and the logs tell of one alone."""
    for line in text.splitlines():
        ask = _ASK.match(line)
        assumed = (
            _LIST.fullmatch(ask["value"]) if ask is not None and ask["key"] == "topics" else None
        )
        told = list(_partitions(found))
        if assumed is not None and len(told) == 1 and told[0] != assumed[1]:
            name = rf"(?<![\w.-]){re.escape(assumed[1])}(?![\w.-])"
            real = told[0].replace("\\", "\\\\")
            named = re.sub(rf"{name}(?=:|\])", real, text)
            return named, f"topics: [{told[0]}] (the one that is assigned in the logs)"
    return text, ""


def _answers(found: Calibration) -> dict[str, tuple[str, str]]:
    answers: dict[str, tuple[str, str]] = {}
    count = len(found.measured.samples.get("start", ()))
    if count:
        answers["start"] = (drawn(found.measured, "start"), f"{count} starts in the logs")
    batches = len(found.measured.samples.get("batch", ()))
    if batches >= FEW:
        why = f"{batches} handlers were still at work when their groups moved"
        answers["per_record"] = (drawn(found.measured, "batch"), why)
    clients = Counter(dialect(v.dialect).client for s in found.stories for v in s.voices)
    if clients:
        name, often = clients.most_common(1)[0]
        answers["client"] = (name, f"{often} consumers in the logs")
    versions = Counter(
        f.why
        for s in found.stories
        for v in s.voices
        for f in v.facts
        if f.what == FactKind.VERSION
    )
    if versions:
        answers["client_version"] = (f'"{versions.most_common(1)[0][0]}"', "as the logs say")
    for topic, number in _partitions(found).items():
        answers[f"partitions {topic}"] = (str(number), "the highest number in the logs, and one")
    return answers


def _partitions(found: Calibration) -> dict[str, int]:
    return partitions_in(f for story in found.stories for v in story.voices for f in v.facts)
