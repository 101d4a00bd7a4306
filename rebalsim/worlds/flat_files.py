"""Files of keys and values without indentation: properties, environment, ini, HOCON, Logstash.

Each becomes the same thing: a table from a dotted key to the text that stands there. What comes
later in a file wins, as it does for the programs that read them.
"""

from __future__ import annotations

import re

from rebalsim.worlds.text_tree import LARGEST, Unreadable
from rebalsim.worlds.values import Text, Tree

Flat = dict[Text, Text]
DEEPEST = 100

_PROPERTY = re.compile(r"\s*((?:\\.|[^\s=:\\])+)\s*[=:\s]\s*(.*)$")
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.\-]*)=(.*)$")
_CONTROL = re.compile(r"^\s*(\{%.*%\}|\{\{-?\s*(if|else|end|range|with|define|/\*).*)\s*$")


def properties(text: str, file: str) -> Flat:
    """Java's properties: comments, continuation lines, the last one of two keys wins."""
    found: Flat = {}
    for number, line in _logical_lines(text):
        if _CONTROL.match(line) or not (pair := _PROPERTY.match(line)):
            continue
        key = re.sub(r"\\(.)", r"\1", pair[1])
        _put(found, Text(key, file, number), Text(_unescaped(pair[2].strip()), file, number))
    return found


def _logical_lines(text: str) -> list[tuple[int, str]]:
    if len(text) > LARGEST:
        raise Unreadable(1, f"larger than {LARGEST:,} characters: no settings file is")
    made: list[tuple[int, str]] = []
    held: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if held:
            number, line = held[0], held[1] + line.lstrip()
            held = None
        elif not line.strip() or line.lstrip()[0] in "#!":
            continue
        if re.search(r"(?<!\\)(\\\\)*\\$", line):
            held = number, line[:-1]
        else:
            made.append((number, line))
    return made + ([held] if held else [])


def _unescaped(value: str) -> str:
    return re.sub(r"\\([:=# \\!])", r"\1", value)


def _put(found: Flat, key: Text, value: Text) -> None:
    """The last one wins, and stands where it was written."""
    found.pop(key, None)
    found[key] = value


def environment(text: str, file: str) -> Flat:
    """A file of NAME=value lines, as Docker and shells read it."""
    found: Flat = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not (pair := _ASSIGNMENT.match(line)):
            continue
        value = pair[2].strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = re.sub(r"\s+#.*$", "", value)
        _put(found, Text(pair[1], file, number), Text(value, file, number))
    return found


def ini(text: str, file: str) -> dict[str, Flat]:
    """Sections of key = value lines; what stands before the first has the name ''."""
    sections: dict[str, Flat] = {"": {}}
    current = sections[""]
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        if head := re.fullmatch(r"\[([^\]]+)\]", stripped):
            current = sections.setdefault(head[1].strip(), {})
        elif pair := re.match(r"([^=:\s]+)\s*[=:]\s*(.*)$", stripped):
            value = re.sub(r"\s+[;#].*$", "", pair[2]).strip()
            _put(current, Text(pair[1], file, number), Text(value, file, number))
    return {name: flat for name, flat in sections.items() if flat}


_HOCON = re.compile(
    r"""^\s*("[^"]*"|[\w.\-$]+)\s*(?:(\{)|(?:=>|\+=|=|:)\s*(\{|\[|.*))\s*(?:\#.*|//.*)?$"""
)


def hocon(text: str, file: str) -> Flat:
    """HOCON, and Logstash's plugins, line by line: braces open a prefix, `${?X}` keeps what was.

    Lists over several lines are joined with commas.
    """
    found: Flat = {}
    prefix: list[str] = []
    listed: tuple[Text, list[str]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = re.sub(r"(^|\s)(#|//).*$", "", line).strip().rstrip(",")
        if listed is not None:
            listed[1].extend(re.findall(r'"([^"]*)"|([^\s,\]]+)', stripped) and _items(stripped))
            if "]" in stripped:
                found[listed[0]] = Text(",".join(listed[1]), file, number)
                listed = None
            continue
        for piece in _pieces(stripped):
            if piece == "}":
                prefix = prefix[:-1]
            elif pair := _HOCON.match(piece):
                listed = _hocon_pair(found, prefix, pair, file, number)
    return _with_blocks(found)


def _hocon_pair(
    found: Flat, prefix: list[str], pair: re.Match[str], file: str, number: int
) -> tuple[Text, list[str]] | None:
    """What stands between two braces or commas: a block that opens, or a value; a list that the
    line does not end is handed back.
    """
    key = pair[1].strip('"')
    rest = (pair[2] or pair[3] or "").strip()
    path = Text(".".join([*prefix, key]), file, number)
    if based := re.fullmatch(r"(\$\{[^}]+\})\s*\{", rest):  # `= ${shared} { more }`
        _put_hocon(found, path, based[1], file, number)
        rest = "{"
    if rest == "{":
        if len(prefix) > DEEPEST:
            raise Unreadable(number, f"more than {DEEPEST} blocks inside each other: no settings")
        prefix.append(key)
    elif rest.startswith("[") and "]" not in rest:
        return path, _items(rest)
    else:
        _put_hocon(found, path, rest, file, number)
    return None


_TOKEN = re.compile(r'"[^"]*"|\$\{[^}]*\}|[{},\[\]]|[^"${},\[\]]+|.')
_NEXT_PAIR = re.compile(r"(?<!\s)\s++(?=\w++\s*+=>)")  # Logstash's pairs need no comma between them
_JOINED = re.compile(r'(?:"[^"]*"|\$\{[^}]*\})+')  # `"orders-"${ENV}`


def _pieces(line: str) -> list[str]:
    """`a { b = 1, c { d = "e" } }` in parts: what opens a block, each pair, each closing brace. What
    stands in quotes, in `${…}` or in a list is no mark.
    """
    made, depth = [""], 0
    for token in _TOKEN.findall(line):
        depth += (token == "[") - (token == "]")
        is_mark = depth <= 0 and token in ("{", "}", ",")
        if not is_mark:
            made[-1] += token
        elif token == "{":
            made[-1] += token
            made.append("")
        else:
            made += ["}", ""] if token == "}" else [""]
    pairs = [pair for piece in made for pair in _NEXT_PAIR.split(piece)]
    return [pair.strip() for pair in pairs if pair.strip()]


_WHOLE = re.compile(r"\$\{\??([\w.\-]+)\}")


def _with_blocks(found: Flat) -> Flat:
    """`a = ${b}` where b is a block: all that stands in b stands in a, unless a says otherwise."""
    made = dict(found)
    for key, text in found.items():
        named = _WHOLE.fullmatch(text)
        if named is None or named[1] in found:
            continue
        block = f"{named[1]}."
        inside = {k: t for k, t in found.items() if k.startswith(block)}
        if inside:
            del made[key]
        for k, t in inside.items():
            made.setdefault(Text(f"{key}.{k.removeprefix(block)}", t.file, t.line), t)
    return made


def _items(line: str) -> list[str]:
    return [a or b for a, b in re.findall(r'"([^"]*)"|([^\s,\[\]"]+)', line)]


def _put_hocon(found: Flat, path: Text, rest: str, file: str, number: int) -> None:
    if rest.startswith("["):
        rest = ",".join(_items(rest))
    if optional := re.fullmatch(r"\$\{\?([^}]+)\}", rest):
        if path in found:
            return  # what was said before is the default of the variable
        rest = f"${{{optional[1]}}}"
    if _JOINED.fullmatch(rest):
        rest = rest.replace('"', "")
    _put(found, path, Text(rest, file, number))


def flattened(tree: Tree, most: int = 60_000) -> Flat:
    """A tree as dotted keys; lists of scalars become one text with commas, others get `[n]`."""
    found: Flat = {}
    _flatten(tree, "", found, most)
    return found


def _flatten(tree: Tree, prefix: str, found: Flat, most: int) -> None:
    if len(found) > most:
        raise Unreadable(1, f"unfolds into more than {most:,} settings")
    if isinstance(tree, dict):
        for key, value in tree.items():
            path = Text(f"{prefix}.{key}" if prefix else key, key.file, key.line)
            if isinstance(value, (dict, list)):
                _flatten(value, path, found, most)
            if isinstance(value, Text):
                found[path] = value
            elif isinstance(value, list) and (scalars := _scalars(value)):
                first = scalars[0]
                found[path] = Text(",".join(scalars), first.file, first.line)
    elif isinstance(tree, list) and not _scalars(tree):
        for number, value in enumerate(tree):
            _flatten(value, f"{prefix}[{number}]", found, most)


def _scalars(values: list[Tree]) -> list[Text]:
    return values if values and all(isinstance(v, Text) for v in values) else []
