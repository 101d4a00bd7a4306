"""Versions and clients are sets of named behaviours, made in `scenario/profiles`: nobody else
compares a version, or a client's name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from code_of_rebalsim import modules

from rebalsim.scenario.profiles import CLIENTS

PROFILES = "rebalsim.scenario.profiles"
NAMES = frozenset(client for client, _ in CLIENTS)
OTHERS = NAMES - {"java"}  # which is also the name of a program
VERSION = re.compile(r"\d+\.\d+(\.\d+)?")
# of what holds a version of Kafka or of a client, by its name alone
_HOLDS = frozenset(("kafka", "client_version", "kafka_version"))
_TAKES_APART = frozenset(("split", "partition", "rpartition", "startswith"))


def _wrong(tree: ast.AST) -> Iterator[ast.AST]:
    """Comparisons of versions and names, and whatever takes a version apart to compare it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and _compares(node):
            yield node
        elif isinstance(node, ast.Constant) and node.value in OTHERS:
            yield node  # in a table, say
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _TAKES_APART
            and (_holds(node.func.value) or any(map(_is_name, node.args)))
        ):
            yield node


def _compares(node: ast.Compare) -> bool:
    is_member = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
    sides = [node.left, *node.comparators]
    if is_member:  # one of several numbers is none
        sides = [e for s in sides for e in getattr(s, "elts", [s])]
    return any(map(_is_meant, sides))


def _is_meant(side: ast.expr) -> bool:
    if isinstance(side, ast.Tuple | ast.List | ast.Set):
        numbers = [e.value for e in side.elts if isinstance(e, ast.Constant)]
        return len(numbers) == 2 and all(type(n) is int for n in numbers)  # (4, 3)
    return _is_name(side) or _holds(side)


def _is_name(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.value in NAMES or VERSION.fullmatch(node.value) is not None)
    )


def _holds(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _HOLDS


# whoever asks of an optional value whether it is there, or the machine for its Java
MAY = {
    "rebalsim.scenario.known_differences": "who does what otherwise, told to people",
    "rebalsim.cli.doctor": "packages of Python, of which one is called like a client",
    "rebalsim.spark.workers": "the version of Python there",
    "rebalsim.spark.java": "the program that Spark needs",
    "rebalsim.proof.bench.jars": "the program that the benchmark needs",
    "rebalsim.proof.bench.assignors": "the program that the benchmark needs",
}
# a dialect of logs says which client prints it, and files of settings which client reads them
DIALECTS = "rebalsim.worlds."


def test_nobody_else_compares_versions_or_clients() -> None:
    wrong = [
        f"{module.place(node)}: {ast.unparse(node)}"
        for module in modules()
        if module.name != PROFILES
        and module.name not in MAY
        and not module.name.startswith(DIALECTS)
        for node in _wrong(module.tree)
    ]
    assert wrong == [], "give it a behaviour in domain/habits.py, and say in profiles who has it"


@pytest.mark.parametrize(
    "code",
    [
        "if version >= (4, 3): pass",
        "if client == 'java': pass",
        "x = facts.client.startswith('franz-go')",
        "major = int(cluster.kafka.split('.')[0])",
        "y = spec.client_version < other",
        "z = client in ('sarama', 'java')",
        "z = client in ('java', 'other')",
        "SINCE = {'librdkafka': 1}",
        "if version == '4.3': pass",
    ],
)
def test_the_test_sees_what_it_is_to_see(code: str) -> None:
    assert list(_wrong(ast.parse(code)))
