"""HashiCorp's configuration language, as far as a job's specification needs it: blocks with labels,
and keys with a string, a number or a list. What is computed (`"${var.x}"`) stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rebalsim.worlds.values import Text, Tree

_JOB = re.compile(r'(?m)^job\s+"[^"\n]+"\s*\{')
_HEREDOC = re.compile(r"<<-?\s*\"?(\w+)\"?\s*$")
_PIECES = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<mark>[{}\[\]=])|(?P<word>[\w.\-]+)|(?P<note>#.*|//.*|/\*.*?\*/)|.'
)
_MOST_DEEP = 50
_MOST_LABELS = 4


def is_job(text: str) -> bool:
    """Whether it is a specification of a Nomad job."""
    return bool(_JOB.search(text))


def read(text: str, file: str) -> Tree:
    """Blocks by type and labels, keys with what is told of them."""
    root: dict[Text, Tree] = {}
    opened: list[dict[Text, Tree]] = [root]
    head: list[Text] = []
    for piece in _pieces(text, file):
        if _is_mark(piece, "{") and len(opened) < _MOST_DEEP:
            opened.append(_entered(opened[-1], head))
            head = []
        elif _is_mark(piece, "}"):
            head = []
            if len(opened) > 1:
                opened.pop()
        else:
            head.append(piece)
            if _is_taken(opened[-1], head):
                head = []
            elif len(head) > _MOST_LABELS and not _is_mark(head[1], "="):
                head = head[1:]  # no block has so many labels
    return root


def _is_mark(piece: Text, mark: str) -> bool:
    return piece == mark and not piece.plain


def _pieces(text: str, file: str) -> Iterator[Text]:
    """Words and marks with their lines; a mark is told apart by not being plain."""
    for number, line in enumerate(_without_long_texts(text), 1):
        for piece in _PIECES.finditer(line):
            said = piece["text"] if piece["text"] is not None else piece["word"]
            if said is not None:
                yield Text(said, file, number)
            elif piece["mark"]:
                yield Text(piece["mark"], file, number, False)


def _without_long_texts(text: str) -> Iterator[str]:
    """The lines, with those of comments and of texts within (`<<EOF`) left empty."""
    until = ""
    for line in text.split("\n"):
        if until:
            is_over = "*/" in line if until == "*/" else line.strip() == until
            until, line = ("" if is_over else until), ""
        elif (here := _HEREDOC.search(line)) is not None:
            until, line = here[1], f'{line[: here.start()]}""'
        elif "/*" in line and "*/" not in line:
            until, line = "*/", line.partition("/*")[0]
        yield line


def _entered(inside: dict[Text, Tree], head: list[Text]) -> dict[Text, Tree]:
    """The block that begins here: `group "scorer" {`, or `env = {`."""
    for name in (word for word in head if word.plain):
        inner = inside.setdefault(name, {})
        if not isinstance(inner, dict):
            inner = inside[name] = {}
        inside = inner
    return inside


def _is_taken(inside: dict[Text, Tree], head: list[Text]) -> bool:
    """Whether these are a key with its value, which stand in the block then."""
    if len(head) < 3 or not _is_mark(head[1], "="):
        return False
    is_list = _is_mark(head[2], "[")
    if is_list and not _is_mark(head[-1], "]"):
        return False
    inside[head[0]] = [word for word in head[3:] if word.plain] if is_list else head[2]
    return True
