"""Broken scenario files, made from good ones: bytes flipped, lines dropped and doubled, values
swapped. Each is a function of its number.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_VALUE = re.compile(rb"[^\s:,\[\]{}#\"']+")
_NASTY: tuple[bytes, ...] = (
    b"1:30",
    b"no",
    b"010",
    b"1e3",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"null",
    b"~",
    b"[]",
    b"{}",
    b"[[[[",
    b"{a: {b: {c: d}}}",
    b"'",
    b'"',
    b"&a [*a, *a]",
    b"*a",
    b"!!python/object:os.system x",
    b"<<: *a",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x00",
    b"\xc3",
    b"---",
    b"...",
    b"? ",
    b"| ",
    b"> ",
    b"%YAML 9.9",
    b"@",
    b"`",
    b"\xe2\x80\xae",
    b"\xf0\x9f\x90\x9b",
    b"0s",
    b"1000000h",
    b"4TiB",
    b"1e400",
    b".nan",
    b"200%",
    b"all",
    b"c0",
    b"c999999",
    b"eager",
    b"consumer",
    b"{n}",
    b"os:system",
    b"(((a+)+)+)+$",
    b"a?" * 40 + b"b",
    b"(a|a)" * 50 + b"b",
    b"zipf 300",
    b"200000",
    b"365d",
    b"1ms",
    b"orders-" + b"9" * 25,
    b"100000",
    b"\xc2\x85",
    b"a" * 5000,
    b"- " * 300,
    b"[" * 200,
)


def mutated(goods: Sequence[bytes], seed: int, number: int) -> bytes:
    """The broken file of this number: one to four wounds to one of the good ones."""
    chance = random.Random(seed * 1_000_003 + number)
    text = goods[chance.randrange(len(goods))]
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        text = chance.choice(_WOUNDS)(text, chance)
    return text


def _flip(text: bytes, chance: random.Random) -> bytes:
    if not text:
        return text
    at = chance.randrange(len(text))
    return text[:at] + bytes([text[at] ^ 1 << chance.randrange(8)]) + text[at + 1 :]


def _byte(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + bytes([chance.randrange(256)]) + text[at + chance.randrange(2) :]


def _drop_line(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _double_line(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    lines.insert(chance.randrange(len(lines) + 1), lines[at])
    return b"\n".join(lines)


def _swap_lines(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _indent(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at] = (
        lines[at].lstrip()
        if chance.random() < 0.4
        else chance.choice((b" ", b"  ", b"\t", b"    ")) + lines[at]
    )
    return b"\n".join(lines)


def _swap_values(text: bytes, chance: random.Random) -> bytes:
    found = list(_VALUE.finditer(text))
    if len(found) < 2:
        return text
    one, other = sorted((chance.choice(found), chance.choice(found)), key=lambda m: m.start())
    if one.start() == other.start():
        return text
    return (
        text[: one.start()]
        + other.group()
        + text[one.end() : other.start()]
        + one.group()
        + text[other.end() :]
    )


def _nasty_value(text: bytes, chance: random.Random) -> bytes:
    found = list(_VALUE.finditer(text))
    if not found:
        return text
    one = chance.choice(found)
    return text[: one.start()] + chance.choice(_NASTY) + text[one.end() :]


def _nasty_insert(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_NASTY) + text[at:]


def _digits(text: bytes, chance: random.Random) -> bytes:
    found = list(re.finditer(rb"[0-9]+", text))
    if not found:
        return text
    one = chance.choice(found)
    number = chance.choice(
        (
            b"0",
            b"1",
            b"7",
            b"99",
            b"1000",
            b"12345",
            b"250000",
            b"2147483648",
            str(chance.randrange(10**6)).encode(),
        )
    )
    return text[: one.start()] + number + text[one.end() :]


def _cut(text: bytes, chance: random.Random) -> bytes:
    return text[: chance.randrange(len(text) + 1)]


_WOUNDS = (
    _flip,
    _byte,
    _drop_line,
    _double_line,
    _swap_lines,
    _indent,
    _swap_values,
    _swap_values,
    _nasty_value,
    _nasty_value,
    _nasty_insert,
    _digits,
    _digits,
    _cut,
)
