"""Topics that commands create: what a start-up job, or a broker's image, is told to make."""

from __future__ import annotations

import re

from rebalsim.worlds.understood import Understood
from rebalsim.worlds.values import Text, Value, place, stated

_COMMAND = re.compile(r"(?=\S*kafka-topics(?:\.sh)?\s)")
_END = re.compile(r"&&|\|\||;|\n\s*\n|\bdone\b")
_RPK = re.compile(r"rpk\s+topic\s+create\s+([^&;|\n]+)")
_NAME = re.compile(r"[A-Za-z0-9._-]+")

Counts = dict[str, dict[str, Value]]


def by_commands(made: Understood, command: list[Text]) -> None:
    """`kafka-topics --create …` and `rpk topic create …` in a command or a script."""
    if command:
        whole, where = " ".join(command), place(command[0])
        made.topics.update({**_of_kafka(whole, where), **_of_rpk(whole, where)})


def by_image(made: Understood, told: Text) -> None:
    """KAFKA_CREATE_TOPICS of some brokers' images: `orders:12:1,events:3:1:compact`."""
    for part in re.split(r"[,\s]+", told):
        pieces = part.strip().split(":")
        if len(pieces) >= 3 and _NAME.fullmatch(pieces[0]):
            counts = _counts(pieces[1], pieces[2], place(told))
            made.topics[pieces[0]] = counts


def _of_kafka(text: str, where: str) -> Counts:
    found: Counts = {}
    for piece in _COMMAND.split(text):
        command = _END.split(piece)[0]
        if "--create" not in command:
            continue
        name = _option(command, "topic")
        if _NAME.fullmatch(name):
            partitions = _option(command, "partitions")
            found[name] = _counts(partitions, _option(command, "replication-factor"), where)
    return found


def _of_rpk(text: str, where: str) -> Counts:
    found: Counts = {}
    for rest in _RPK.findall(text):
        told = {"p": "", "partitions": "", "r": "", "replicas": ""}
        names, words = [], iter(w.strip("'\"") for w in rest.split())
        for word in words:
            if not word.startswith("-"):
                names.append(word)
                continue
            option, has_value, value = word.lstrip("-").partition("=")
            told[option] = value if has_value else next(words, "")
        partitions, copies = told["p"] or told["partitions"], told["r"] or told["replicas"]
        counts = _counts(partitions, copies, where)
        found.update({name: counts for name in names if _NAME.fullmatch(name)})
    return found


def _option(command: str, name: str) -> str:
    match = re.search(rf"--{name}[=\s]+[\"']?([^\s\"']+)", command)
    return match[1] if match else ""


def _counts(partitions: str, copies: str, where: str) -> dict[str, Value]:
    told = {"partitions": partitions, "replication": copies}
    return {k: stated(int(v), where) for k, v in told.items() if v.isdigit()}
