"""Regular expressions as brokers read them: RE2/J's language, put into Python's `re`. Only whole
topic names are matched, so greediness and the names of groups do not matter, and classes need to
be right for the characters of topic names alone: ASCII letters and digits, `.`, `_` and `-`.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase, digits

MOST_REPEATS = 1000
_NAME = "A-Za-z0-9._-"
_NAME_CHARACTERS = "-." + digits + ascii_uppercase + "_" + ascii_lowercase
_POSIX = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": _NAME,
    "blank": " ",
    "cntrl": "\\x00-\\x1f",
    "digit": "0-9",
    "graph": _NAME,
    "lower": "a-z",
    "print": _NAME,
    "punct": "._-",
    "space": " ",
    "upper": "A-Z",
    "word": "A-Za-z0-9_",
    "xdigit": "A-Fa-f0-9",
}
_PERL = {"d": "0-9", "w": "A-Za-z0-9_", "s": " "}
# general categories and scripts, as far as topic names have them; of the others nothing
_UNICODE = {
    "L": "A-Za-z",
    "Lu": "A-Z",
    "Ll": "a-z",
    "N": "0-9",
    "Nd": "0-9",
    "P": "._-",
    "Po": ".",
    "Pc": "_",
    "Pd": "-",
    "Latin": "A-Za-z",
    "Common": "0-9._-",
    "Any": _NAME,
}
_CATEGORIES = re.compile(
    r"C|Cc|Cf|Co|Cs|L[lmotu]?|M|M[cen]|N|N[dlo]|P|P[cdefios]|S|S[ckmo]|Z|Z[lps]|Any"
)
_SCRIPTS = frozenset(
    (
        "Arabic",
        "Armenian",
        "Bengali",
        "Common",
        "Cyrillic",
        "Devanagari",
        "Georgian",
        "Greek",
        "Han",
        "Hangul",
        "Hebrew",
        "Hiragana",
        "Inherited",
        "Katakana",
        "Latin",
        "Thai",
    )
)
_PLAIN = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_REPEAT = re.compile(r"\{(\d+)(,?)(\d*)\}")
_CLASS_NAME = re.compile(r"\[:(\^?)(\w+):\]")
_UNMATCHED = "(?!)"
_NAMED_GROUP = re.compile(r"\(\?P?<(\w+)>")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_UNICODE_NAME = re.compile(r"\{(\^?)(\w+)\}|([A-Za-z])")
_HEX = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")


class NotRe2(Exception):
    """RE2 refuses this expression."""


def to_python(regex: str) -> str:
    """The expression as Python's `re.fullmatch` takes it."""
    return _Translation(regex).whole()


class _Translation:
    """One pass over the expression, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.out: list[str] = []
        # for each open group the flag groups that were opened within it
        self.scopes: list[list[str]] = [[]]
        self.begun: list[int] = []  # where each of them began in `out`
        self.names: dict[str, None] = {}
        self.can_repeat = False  # is there something before that an operator can repeat?
        self.begins = self.ends = 0  # where in `out` that begins and ends

    def whole(self) -> str:
        text = self.text
        while self.at < len(text):
            self._next(text[self.at])
        if len(self.scopes) > 1:
            raise NotRe2("missing closing )")
        self._close_flags()
        return "".join(self.out)

    def _emit(self, piece: str, width: int) -> None:
        self.begins = len(self.out)
        self.out.append(piece)
        self.ends = len(self.out)
        self.at += width
        self.can_repeat = True

    def _next(self, char: str) -> None:
        if char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self.out.append(")" * len(self.scopes[-1]) + "|" + "".join(self.scopes[-1]))
            self.at += 1
            self.can_repeat = False
        elif char in "*+?" or (char == "{" and _REPEAT.match(self.text, self.at)):
            self._repeat(char)
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escape()
        elif char in "^$.":
            self._emit(char, 1)
        elif char == "{":
            self._end_of_operator(self.at + 1)
            self._emit("\\{", 1)
        else:
            self._emit(re.escape(char), 1)

    # --------------------------------------------------------------------------------------- groups

    def _open(self) -> None:
        text, began = self.text, len(self.out)
        if not text.startswith("(?", self.at):
            self.out.append("(?:")
            self.at += 1
        elif (named := _NAMED_GROUP.match(text, self.at)) is not None:
            if named.group(1) in self.names:
                raise NotRe2("duplicate capture group name")
            self.names[named.group(1)] = None
            self.out.append("(?:")
            self.at = named.end()
        elif (flags := _FLAGS.match(text, self.at)) is not None:
            scope = _scope(flags.group(1), flags.group(2) or "")
            self.out.append(scope)
            self.at = flags.end()
            if flags.group(3) == ")":  # a flag holds up to the end of the group in which it stands
                self.scopes[-1].append(scope)
                return  # an operator that follows repeats what stands before, as in RE2
        else:
            raise NotRe2("invalid or unsupported Perl syntax")
        self.begun.append(began)
        self.scopes.append([])
        self.can_repeat = False

    def _close_flags(self) -> None:
        self.out.append(")" * len(self.scopes[-1]))

    def _close(self) -> None:
        if len(self.scopes) == 1:
            raise NotRe2("unexpected )")
        self._close_flags()
        self.scopes.pop()
        self.out.append(")")
        self.begins, self.ends = self.begun.pop(), len(self.out)
        self.at += 1
        self.can_repeat = True

    # ---------------------------------------------------------------------------------- repetitions

    def _repeat(self, char: str) -> None:
        if not self.can_repeat:
            raise NotRe2("missing argument to repetition operator")
        text = self.text
        found = _REPEAT.match(text, self.at) if char == "{" else None
        end = found.end() if found is not None else self.at + 1
        if found is not None:
            least, most = int(found.group(1)), int(found.group(3) or found.group(1))
            if least > MOST_REPEATS or most > MOST_REPEATS or (found.group(3) and most < least):
                raise NotRe2("invalid repeat count")
        operator = text[self.at : end]
        if end < len(text) and text[end] == "?":
            end += 1
        self._end_of_operator(end)
        self.out[self.begins : self.ends] = [
            "(?:" + "".join(self.out[self.begins : self.ends]) + ")" + operator
        ]
        self.ends = self.begins + 1
        self.at = end

    def _end_of_operator(self, end: int) -> None:
        """No operator repeats another, nor a brace that was taken for one."""
        if end < len(self.text) and (self.text[end] in "*+?" or _REPEAT.match(self.text, end)):
            raise NotRe2("bad repetition operator")

    # -------------------------------------------------------------------------- escapes and classes

    def _escape(self) -> None:
        text, at = self.text, self.at
        if at + 1 >= len(text):
            raise NotRe2("trailing backslash at end of expression")
        char = text[at + 1]
        if char == "Q":
            end = text.find("\\E", at + 2)
            literal = text[at + 2 : end if end >= 0 else len(text)]
            for letter in literal:
                self._emit(re.escape(letter), 0)
            self.at = end + 2 if end >= 0 else len(text)
        elif char in "AbB":
            self._emit(f"\\{char}", 2)
        elif char == "z":
            self._emit("\\Z", 2)
        else:
            inside, negated, width = self._one_of(at)
            self._emit(_class_of(inside, negated), width)

    def _one_of(self, at: int) -> tuple[str, bool, int]:
        """An escape that stands for characters: what to write into a class, whether it is all
        but these, how long it is.
        """
        text = self.text
        char = text[at + 1] if at + 1 < len(text) else ""
        if char.lower() in _PERL:
            return _PERL[char.lower()], char.isupper(), 2
        if char in ("p", "P"):
            found = _UNICODE_NAME.match(text, at + 2)
            name = (found.group(2) or found.group(3)) if found is not None else ""
            if found is None or not (_CATEGORIES.fullmatch(name) or name in _SCRIPTS):
                raise NotRe2("invalid character class range")
            return _UNICODE.get(name, ""), (char == "P") != bool(found.group(1)), found.end() - at
        code, width = self._code(at)
        return re.escape(chr(code)), False, width

    def _code(self, at: int) -> tuple[int, int]:
        """An escape that stands for one character."""
        text = self.text
        char = text[at + 1] if at + 1 < len(text) else ""
        if char in _PLAIN:
            return _PLAIN[char], 2
        if char == "x":
            found = _HEX.match(text, at + 2)
            if found is None or int(found.group(1) or found.group(2), 16) > 0x10FFFF:
                raise NotRe2("invalid escape sequence")
            return int(found.group(1) or found.group(2), 16), found.end() - at
        octal = _OCTAL.match(text, at + 1)
        if octal is not None:
            return int(octal.group(), 8), octal.end() - at
        if not char or char.isalnum() or ord(char) > 127:
            raise NotRe2("invalid escape sequence")
        return ord(char), 2

    def _class(self) -> None:
        text, at = self.text, self.at + 1
        negated = text.startswith("^", at)
        at += negated
        parts: list[str] = []
        first = True
        while first or not text.startswith("]", at):
            if at >= len(text):
                raise NotRe2("missing closing ]")
            first = False
            named = _CLASS_NAME.match(text, at)
            if named is not None:
                if named.group(2) not in _POSIX:
                    raise NotRe2("invalid character class range")
                parts.append(
                    _but(_POSIX[named.group(2)]) if named.group(1) else _POSIX[named.group(2)]
                )
                at = named.end()
                continue
            if (
                text[at] == "\\"
                and at + 1 < len(text)
                and (text[at + 1].lower() in _PERL or text[at + 1] in "pP")
            ):
                inside, is_not, width = self._one_of(at)
                parts.append(_but(inside) if is_not else inside)
                at += width
                continue
            low, width = self._member(at)
            at += width
            if text.startswith("-", at) and at + 1 < len(text) and text[at + 1] != "]":
                high, width = self._member(at + 1)
                at += 1 + width
                if high < low:
                    raise NotRe2("invalid character class range")
                parts.append(f"{re.escape(chr(low))}-{re.escape(chr(high))}")
            else:
                parts.append(re.escape(chr(low)))
        inside = "".join(parts)
        self._emit(_class_of(inside, negated), at + 1 - self.at)

    def _member(self, at: int) -> tuple[int, int]:
        """One character of a class."""
        if at >= len(self.text):
            raise NotRe2("missing closing ]")
        return self._code(at) if self.text[at] == "\\" else (ord(self.text[at]), 1)


def _scope(on: str, off: str) -> str:
    """The beginning of a group with these flags. Greediness (U) changes nothing where the whole
    has to match.
    """
    on, off = ("".join(flag for flag in "ims" if flag in which) for which in (on, off))
    on = "".join(flag for flag in on if flag not in off)
    return f"(?{on}{'-' + off if off else ''}:"


def _class_of(inside: str, negated: bool) -> str:
    """A class of these characters, or of all others; `re` has none that is empty."""
    if not inside:
        return "[\\s\\S]" if negated else _UNMATCHED
    return f"[{'^' if negated else ''}{inside}]"


def _but(inside: str) -> str:
    """All characters that a topic's name can have, except these."""
    left = re.compile(_class_of(inside, True))
    return "".join(re.escape(char) for char in _NAME_CHARACTERS if left.match(char))
