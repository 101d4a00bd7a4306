"""OpenShift Templates: parameters filled in from the defaults that the file itself gives them."""

from __future__ import annotations

import re

from rebalsim.worlds.text_tree import at, rows, word
from rebalsim.worlds.values import Text, Tree, like

_PARAMETER = re.compile(r"\$\{\{\s*(\w+)\s*\}\}|\$\{\s*(\w+)\s*\}")


def is_template(tree: Tree) -> bool:
    return at(tree, "kind") == "Template" and isinstance(at(tree, "objects"), list)


def objects_of(tree: Tree) -> list[Tree]:
    """The template's objects with the parameters that have a value put in; others stay."""
    values = {
        str(name): word(row.get(Text("value")))
        for row in rows(at(tree, "parameters"))
        if (name := word(row.get(Text("name"))))
    }
    return [_filled(t, values) for t in rows(at(tree, "objects"))]


def _filled(tree: Tree, values: dict[str, Text | None]) -> Tree:
    if isinstance(tree, dict):
        return {k: _filled(v, values) for k, v in tree.items()}
    if isinstance(tree, list):
        return [_filled(v, values) for v in tree]
    if not isinstance(tree, Text) or "${" not in tree:
        return tree

    def put(found: re.Match[str]) -> str:
        value = values.get(found[1] or found[2])
        return str(value) if value is not None else found[0]

    return like(_PARAMETER.sub(put, tree), tree)
