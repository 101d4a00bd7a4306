"""Prose lives in reports, in lint's rules and in the errors of the scenario language. Below them
facts are handed over: no sentence stands there, but for docstrings, what is raised, and what Kafka
itself writes.

What still does stands in KNOWN, with its reason; the figures may only shrink.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from code_of_rebalsim import in_rooms

# protocol, connect and simulation write what Kafka and its clients log, and are left to the eye
ROOMS = ("domain", "words", "assignors", "trace", "analysis", "one_run", "check")

_REGISTRY = "the registry of metrics: what each of them is, a line each, for explain and the docs"
_VERDICT = "a verdict's reason, a clause that travels as text through processes, JSON and baselines"
_KAFKA = "what Kafka's clients log, to be found in a trace"
_ERROR = "an error's text, which is raised elsewhere"
_ASKED = "why a budget makes no sense in this run: an error on the scenario, told with its line"

# file → how many such literals, and why they stand there
KNOWN: dict[str, tuple[int, str]] = {
    "domain/metrics.py": (83, _REGISTRY),
    "words/nearest.py": (4, _VERDICT),
    "trace/codec.py": (2, _ERROR),
    "trace/jsonl.py": (12, _ERROR),
    "trace/recording.py": (1, _KAFKA),
    "analysis/alarms.py": (1, _KAFKA),
    "analysis/baseline.py": (1, _VERDICT),
    "analysis/client_metrics.py": (1, _KAFKA),
    "analysis/invariants.py": (4, _VERDICT),
    "analysis/judge.py": (6, _ASKED),
    "analysis/judge_facts.py": (9, _VERDICT),
    "analysis/judge_selection.py": (16, _ASKED),
    "analysis/marks.py": (2, _VERDICT),
    "analysis/rounds.py": (5, _KAFKA),
}

_WORD = re.compile(r"[(\"'`]?[A-Za-z][A-Za-z'’-]*[,.;:)\"'`?!]*")


def _sentences(tree: ast.AST) -> Iterator[int]:
    """The lines of literals with three words or more."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }

    def walk(node: ast.AST) -> Iterator[int]:
        if isinstance(node, ast.Raise | ast.Assert):
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = [word for word in node.value.split() if _WORD.fullmatch(word)]
            if len(words) >= 3 and id(node) not in docstrings:
                yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    return walk(tree)


def _found() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for room in ROOMS:
        for module in in_rooms(room):
            if lines := list(_sentences(module.tree)):
                found["/".join(module.path.parts[module.path.parts.index("rebalsim") + 1 :])] = (
                    lines
                )
    return found


def test_no_sentence_stands_below_the_rooms_of_prose() -> None:
    wrong = [
        f"rebalsim/{file}: lines {', '.join(map(str, lines))}"
        for file, lines in _found().items()
        if len(lines) > KNOWN.get(file, (0, ""))[0]
    ]
    assert wrong == [], "hand over a fact (an enum, a value), and say it in reports"


def test_the_exceptions_only_shrink() -> None:
    found = _found()
    fewer = [
        f"{file}: {len(found.get(file, ()))} instead of {count}"
        for file, (count, _) in KNOWN.items()
        if len(found.get(file, ())) < count
    ]
    assert fewer == [], "well done: write the smaller figure into KNOWN, or take the line out"
