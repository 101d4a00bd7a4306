"""Helm's templates read as far as they go, without Helm: values that stand in the files are filled
in, conditions on them decided, and what needs more leaves a gap. Nothing is executed.

A gap is a value that nobody knows here; where it stands, the reader says what to render first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from rebalsim.worlds.placeholders import GAP
from rebalsim.worlds.text_tree import at
from rebalsim.worlds.values import Text, Tree

COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
# Lines that hold nothing but a tag of Handlebars or Mustache: what stands inside is read.
_BLOCK_LINE = re.compile(r"(?m)^[ \t]*\{\{~?[#/^](?!\*)[^{}\n]*\}\}[ \t]*$")
_TAG = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}|\{%-?\s*(.*?)\s*-?%\}", re.DOTALL)
_MOST = 2_000_000  # characters that a template may come to


class _Gap:
    """What cannot be known without rendering."""


UNKNOWN = _Gap()


@dataclass
class _Block:
    """A piece of a template: text, an expression, or a block with its branches."""

    kind: str  # text · show · if · with · range · define
    said: str = ""
    branches: list[tuple[str, list[_Block]]] = field(default_factory=list)
    line: int = 0


def without_comments(text: str) -> str:
    """The text with a template's comments and bare block tags emptied, its lines where they were."""
    text = _BLOCK_LINE.sub("", text)
    return COMMENT.sub(lambda c: "\n" * c[0].count("\n"), text)


def is_template(text: str) -> bool:
    return bool(
        re.search(r"\{\{[^}]*(?:\.Values|\.Release|include|template |toYaml|\.Chart)", text)
    )


def defines(text: str) -> dict[str, list[_Block]]:
    """The named templates that a file defines."""
    return {b.said: b.branches[0][1] for b in _parsed(text) if b.kind == "define"}


def render(
    text: str, values: Tree, named: dict[str, list[_Block]] | None = None, chart: str = ""
) -> str:
    """The template's text with everything filled in that `values` tells, gaps elsewhere.

    Lines stay where they were as far as they can: a block left out leaves its lines empty.
    """
    blocks = _parsed(text)
    writer = _Writer(values, {**(named or {}), **defines(text)}, chart)
    made = writer.write(blocks, values_dot(values))
    if not made.strip():  # nothing but definitions: the first of them is what is meant
        for block in blocks:
            if block.kind == "define" and "kind:" in (
                body := writer.write(block.branches[0][1], values_dot(values))
            ):
                return body
    return made


def values_dot(values: Tree) -> Tree:
    return {Text("Values"): values}


def _parsed(text: str) -> list[_Block]:
    root: list[_Block] = []
    stack: list[tuple[_Block, list[_Block]]] = []
    into, position = root, 0
    for tag in _TAG.finditer(text):
        before = text[position : tag.start()]
        if before:
            into.append(_Block("text", before))
        position = tag.end()
        said = (tag[2] if tag[2] is not None else tag[4]).strip()
        head = said.split(None, 1)[0] if said else ""
        rest = said[len(head) :].strip()
        if said.startswith("/*") or not said:
            continue
        if head in ("if", "with", "range", "define", "block", "for"):
            kind = {"for": "range", "block": "define"}.get(head, head)
            block = _Block(kind, rest.split()[0].strip('"') if kind == "define" else rest)
            block.branches.append((rest, []))
            into.append(block)
            stack.append((block, into))
            into = block.branches[0][1]
        elif head in ("else", "elif") and stack:
            condition = rest.removeprefix("if").strip() if head == "else" else rest
            stack[-1][0].branches.append((condition, []))
            into = stack[-1][0].branches[-1][1]
        elif head in ("end", "endif", "endfor") and stack:
            _, into = stack.pop()
        else:
            into.append(_Block("show", said))
    root_tail = text[position:]
    if root_tail:
        into.append(_Block("text", root_tail))
    return root


class _Writer:
    def __init__(self, values: Tree, named: dict[str, list[_Block]], chart: str = "") -> None:
        self.values, self.named, self.chart = values, named, chart
        self.depth = 0
        self.size = 0
        self.variables: dict[str, object] = {}

    def write(self, blocks: list[_Block], dot: object) -> str:
        made: list[str] = []
        self.depth += 1
        if self.depth < 40:
            for block in blocks:
                made.append(self._block(block, dot))
                self.size += len(made[-1])
                if self.size > _MOST:
                    break
        self.depth -= 1
        return "".join(made)

    def _block(self, block: _Block, dot: object) -> str:
        if block.kind == "text":
            return block.said
        if block.kind == "show":
            return self._show(block.said, dot)
        if block.kind == "define":
            return ""
        return self._branch(block, dot)

    def _branch(self, block: _Block, dot: object) -> str:
        """The branch that holds; where nobody can tell, the first."""
        for condition, body in block.branches:
            value = self.value(condition, dot) if condition else True
            if value is not UNKNOWN and not value:
                continue
            if block.kind == "with" and value is not UNKNOWN:
                return self.write(body, value)
            if block.kind == "range":
                return self._each(body, value)
            return self.write(body, dot)
        return ""

    def _each(self, body: list[_Block], value: object) -> str:
        if isinstance(value, list):
            return "".join(self.write(body, item) for item in value)
        return "" if isinstance(value, _Gap) else self.write(body, UNKNOWN)

    def _show(self, said: str, dot: object) -> str:
        if assigned := re.match(r"(\$\w+)\s*:?=\s*(.+)$", said, re.DOTALL):
            self.variables[assigned[1]] = self.value(assigned[2], dot)
            return ""
        value = self.value(said, dot)
        if isinstance(value, _Gap):
            return "" if re.search(r"nindent|toYaml|indent \d", said) else GAP
        if isinstance(value, (dict, list)):
            return as_yaml(value).strip()
        return GAP if value is None else _spoken(value)

    # ---- expressions ----
    def value(self, said: str, dot: object) -> object:
        """An expression with its pipes; UNKNOWN where anything in it is."""
        parts = _split_pipes(said)
        value = self._call(parts[0], dot, ())
        for part in parts[1:]:
            value = self._call(part, dot, (value,))
        return value

    def _call(self, said: str, dot: object, piped: tuple[object, ...]) -> object:
        words = _split_words(said)
        if not words:
            return UNKNOWN
        if len(words) == 1 and not piped:
            return self._operand(words[0], dot)
        name = words[0]
        arguments = [self._operand(w, dot) for w in words[1:]] + list(piped)
        if name in ("include", "template", "tpl"):
            return self._included(name, arguments, dot)
        function = _FUNCTIONS.get(name)
        return function(arguments) if function else UNKNOWN

    def _included(self, name: str, arguments: list[object], dot: object) -> object:
        if not arguments or not isinstance(arguments[0], str):
            return UNKNOWN
        if name == "tpl":
            return self.write(_parsed(arguments[0]), dot)
        blocks = self.named.get(arguments[0])
        if blocks is not None:
            return self.write(blocks, dot).strip()
        # A chart's own templates `X.fullname` make names from the chart's, which is X by habit.
        own = re.fullmatch(r"([\w-]+)\.(?:fullname|name)", arguments[0])
        return own[1] if own and own[1] != "common" else UNKNOWN

    def _operand(self, said: str, dot: object) -> object:
        if said.startswith("("):
            return self.value(said[1:-1], dot)
        if said[0] in "\"`'":
            return said[1:-1]
        if re.fullmatch(r"-?\d+(\.\d+)?", said):
            return said
        if said in ("true", "false"):
            return said == "true"
        if said in _EMPTY:
            return _EMPTY[said]
        if said.startswith("$") and not said.startswith("$."):
            name, _, path = said.partition(".")
            return _walk(self.variables.get(name, UNKNOWN), path)
        path = said.removeprefix("$").removeprefix(".")
        if path.startswith("Values"):
            if not self.values:
                return UNKNOWN
            return _walk(self.values, path.removeprefix("Values").removeprefix("."))
        if said == ".":
            return dot
        if said.removeprefix("$") == ".Chart.Name" and self.chart:
            return Text(self.chart)
        if said.startswith((".Release", ".Chart", ".Capabilities", ".Files", "$.Release")):
            return UNKNOWN
        return _walk(dot, path) if said.startswith((".", "$")) else UNKNOWN


_EMPTY: dict[str, object] = {"nil": None, "dict": {}, "list": []}


def _walk(value: object, path: str) -> object:
    if not path:
        return value
    for step in path.split("."):
        if not isinstance(value, dict):
            return UNKNOWN if isinstance(value, _Gap) else None
        if step not in value:
            return None
        value = value[Text(step)]
    return value


def _split_pipes(said: str) -> list[str]:
    parts, depth, quoted, current = [], 0, "", ""
    for c in said:
        if quoted:
            quoted = "" if c == quoted else quoted
        elif c in '"`':
            quoted = c
        elif c in "()":
            depth += 1 if c == "(" else -1
        elif c == "|" and depth == 0:
            parts.append(current.strip())
            current = ""
            continue
        current += c
    return [*parts, current.strip()]


def _split_words(said: str) -> list[str]:
    made, depth, quoted, current = [], 0, "", ""
    for c in said:
        if quoted:
            current += c
            quoted = "" if c == quoted else quoted
        elif c in '"`':
            quoted = c
            current += c
        elif c.isspace() and depth == 0:
            made.append(current)
            current = ""
        else:
            depth += (c == "(") - (c == ")")
            current += c
    return [w for w in [*made, current] if w]


def _truthy(value: object) -> bool:
    return value is UNKNOWN or (bool(value) and value not in ("false", "0"))


def _any_unknown(make: Callable[[list[object]], object]) -> Callable[[list[object]], object]:
    def safe(arguments: list[object]) -> object:
        if not arguments or any(isinstance(a, _Gap) for a in arguments):
            return UNKNOWN
        try:
            return make(arguments)
        except (TypeError, ValueError, IndexError):
            return UNKNOWN

    return safe


def _spoken(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _indented(arguments: list[object], new_line: bool) -> object:
    spaces = " " * int(str(arguments[0]))
    body = arguments[-1]
    text = as_yaml(body) if isinstance(body, (dict, list)) else _spoken(body)
    lined = "\n".join(spaces + line if line else line for line in text.splitlines())
    return ("\n" if new_line else "") + lined


def _default(arguments: list[object]) -> object:
    fallback, value = arguments[0], arguments[-1]
    if isinstance(value, _Gap):
        return UNKNOWN
    return value if value not in (None, "", "false") else fallback


def _index(arguments: list[object]) -> object:
    return at(arguments[0], *(str(a) for a in arguments[1:]))


_FUNCTIONS: dict[str, Callable[[list[object]], object]] = {
    "quote": _any_unknown(lambda a: '"' + _spoken(a[-1]).replace('"', '\\"') + '"'),
    "squote": _any_unknown(lambda a: "'" + _spoken(a[-1]) + "'"),
    "toString": _any_unknown(lambda a: _spoken(a[-1])),
    "int": _any_unknown(lambda a: str(int(float(str(a[-1]))))),
    "int64": _any_unknown(lambda a: str(int(float(str(a[-1]))))),
    "trim": _any_unknown(lambda a: str(a[-1]).strip()),
    "lower": _any_unknown(lambda a: str(a[-1]).lower()),
    "toYaml": _any_unknown(lambda a: as_yaml(a[-1])),
    "indent": _any_unknown(lambda a: _indented(a, False)),
    "nindent": _any_unknown(lambda a: _indented(a, True)),
    "default": _default,
    "required": _any_unknown(lambda a: a[-1]),
    "index": _any_unknown(_index),
    "not": lambda a: UNKNOWN if a[-1] is UNKNOWN else not _truthy(a[-1]),
    "and": lambda a: UNKNOWN if UNKNOWN in a else all(_truthy(x) for x in a),
    "or": lambda a: next((x for x in a if _truthy(x)), a[-1]),
    "eq": _any_unknown(lambda a: _spoken(a[0]) == _spoken(a[-1])),
    "ne": _any_unknown(lambda a: _spoken(a[0]) != _spoken(a[-1])),
    "hasKey": _any_unknown(lambda a: isinstance(a[0], dict) and a[1] in a[0]),
    "ternary": _any_unknown(lambda a: a[0] if _truthy(a[-1]) else a[1]),
    "printf": _any_unknown(lambda a: str(a[0]).replace("%d", "%s") % tuple(a[1:])),
}


def as_yaml(value: object, indent: int = 0) -> str:
    """A tree as YAML again; every scalar in quotes unless it says itself."""
    pad = " " * indent
    if isinstance(value, dict):
        if not value:
            return f"{pad}{{}}\n"
        return "".join(_entry(f"{pad}{k}:", v, indent) for k, v in value.items())
    if isinstance(value, list):
        if not value:
            return f"{pad}[]\n"
        return "".join(_item(pad, v, indent) for v in value)
    return f"{pad}{_scalar(value)}\n"


def _entry(head: str, value: object, indent: int) -> str:
    if isinstance(value, (dict, list)) and value:
        return f"{head}\n{as_yaml(value, indent + 2)}"
    return f"{head} {as_yaml(value).strip()}\n"


def _item(pad: str, value: object, indent: int) -> str:
    if isinstance(value, (dict, list)) and value:
        return f"{pad}- {as_yaml(value, indent + 2).lstrip()}"
    return f"{pad}- {as_yaml(value).strip()}\n"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    text = str(value)
    if re.fullmatch(r"[\w./:@-]+", text) and not text.endswith(":"):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
