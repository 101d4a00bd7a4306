"""Text → tree: marks, what may not be guessed, and bounds that hold against hostile files."""

from __future__ import annotations

import time

import pytest
import yaml

from rebalsim.scenario import document
from rebalsim.scenario.document import Mapping, Scalar, Sequence, decode, parse, plain
from rebalsim.scenario.source import Source


def tree(text: str) -> tuple[Mapping, list[str]]:
    root, problems = parse(text, Source("a.yaml", text))
    assert isinstance(root, Mapping)
    return root, [p.message for p in problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-7", -7),
        ("45000", 45000),
        ("4.3", 4.3),
        ("0.5", 0.5),
        ("45s", "45s"),
        ("orders-1", "orders-1"),
        ("1200/s", "1200/s"),
        ("1..5", "1..5"),
        ("10.0.0.1", "10.0.0.1"),
        ("none", "none"),
        ("nothing", "nothing"),
        ("y", "y"),
        ("N", "N"),
    ],
)
def test_a_plain_scalar_is_what_every_reader_takes_it_for(text: str, value: object) -> None:
    assert plain(text) == (value, "")
    assert type(plain(text)[0]) is type(value)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("1:30", "1m30s"),
        ("1:02:03", "1h2m3s"),
        ("010", "10"),
        ("-010", '"-010"'),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("1e3", "1000"),
        ("1.5E-3", "0.0015"),
        ("1_000", "1000"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5.0"),
        ("yes", "true"),
        ("No", "false"),
        ("off", "false"),
        ("2024-01-01", '"2024-01-01"'),
        (".inf", "finite"),
        (".NaN", "finite"),
        ("9" * 19, "smaller"),
        ("1e999", "write"),
        ("1" * 40 + "e9", "write"),
    ],
)
def test_what_two_readers_read_differently_is_refused_with_what_to_write(
    text: str, advice: str
) -> None:
    value, trap = plain(text)
    assert value == text
    assert advice in trap
    assert " — " in trap


def test_every_refused_spelling_is_one_that_yaml_1_1_reads_otherwise_or_numbers_do() -> None:
    for text in ("1:30", "010", "0x1F", "1_000", "+5", "yes", "No", "off", "2024-01-01", ".inf"):
        assert not isinstance(yaml.safe_load(text), str), text


def test_quotes_make_text_of_anything() -> None:
    root, problems = tree('a: "no"\nb: \'1:30\'\nc: "010"\n')
    assert [v.value for v in root.entries.values() if isinstance(v, Scalar)] == [
        "no",
        "1:30",
        "010",
    ]
    assert problems == []
    assert all(isinstance(v, Scalar) and not v.trap for v in root.entries.values())


def test_a_block_scalar_is_text() -> None:
    root, _ = tree("description: |\n  no\n  1:30\n")
    value = root.entries["description"]
    assert isinstance(value, Scalar) and value.value == "no\n1:30\n" and not value.trap


def test_marks_count_from_one_and_cover_the_value() -> None:
    root, _ = tree("a:\n  bee: [x, 45s]\n")
    inner = root.entries["a"]
    assert isinstance(inner, Mapping)
    items = inner.entries["bee"]
    assert isinstance(items, Sequence)
    assert (items.items[1].line, items.items[1].column, items.items[1].width) == (2, 12, 3)
    assert (inner.keys["bee"].line, inner.keys["bee"].column, inner.keys["bee"].width) == (2, 3, 3)


def test_marks_are_the_same_with_and_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "title: “ß” x\ntopics: {orders: {partitions: 4}}\nlist:\n  - a: &x 'q'\n  - *x\nlong: "
        "|\n  two\n  lines\n"
    )

    def places(text: str) -> list[tuple[str, int, int, int]]:
        found: list[tuple[str, int, int, int]] = []

        def walk(node: document.Node) -> None:
            found.append((type(node).__name__, node.line, node.column, node.width))
            if isinstance(node, Mapping):
                for key, value in node.entries.items():
                    walk(node.keys[key])
                    walk(value)
            elif isinstance(node, Sequence):
                for item in node.items:
                    walk(item)

        root, problems = parse(text, Source("a.yaml", text))
        assert root is not None and problems == []
        walk(root)
        return found

    with_libyaml = places(text)
    monkeypatch.setattr(document, "_LOADER", yaml.SafeLoader)
    assert places(text) == with_libyaml


def test_a_key_given_twice_is_a_problem_and_the_first_stands() -> None:
    root, problems = tree("a: 1\nb: 2\na: 3\n")
    assert isinstance(root.entries["a"], Scalar) and root.entries["a"].value == 1
    assert len(problems) == 1 and "second time (first on line 1)" in problems[0]


def test_an_alias_stands_for_the_value_of_its_anchor() -> None:
    root, problems = tree("a: &x {b: 1}\nc: *x\n")
    assert problems == []
    assert root.entries["c"] is root.entries["a"]


@pytest.mark.parametrize("text", ["a: &x [*x]\n", "a: &x {b: *x}\n", "a: *x\nb: &x 1\n"])
def test_an_alias_of_what_is_not_complete_is_a_problem(text: str) -> None:
    _, problems = tree(text)
    assert any("stands for nothing so far" in p for p in problems)


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_billion_laughs_are_stopped_before_they_are_told() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30)
    )
    started = time.process_time()
    root, problems = parse(text, Source("a.yaml", text))
    assert root is None and "100,000 values" in problems[-1].message
    assert time.process_time() - started < 0.5


def test_more_aliases_than_sense_are_stopped() -> None:
    text = "a: &a 1\nb: [" + ", ".join(["*a"] * 2000) + "]\n"
    root, problems = parse(text, Source("a.yaml", text))
    assert root is None and "1000 aliases" in problems[-1].message


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_a_hundred_thousand_levels_are_stopped_at_the_thirty_third(opening: str) -> None:
    text = "a:\n  " + opening * 100_000
    started = time.process_time()
    root, problems = parse(text, Source("a.yaml", text))
    assert root is None and problems
    assert time.process_time() - started < 2


def test_a_byte_order_mark_is_no_problem() -> None:
    text, problems = decode(b"\xef\xbb\xbftopics: 1\n", "a.yaml")
    assert text == "topics: 1\n" and problems == []


def test_a_file_too_large_is_refused_unread() -> None:
    text, problems = decode(b"x" * (document.MAX_BYTES + 1), "a.yaml")
    assert text == "" and "bytes" in problems[0].message


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\u2028", "\x85"])
def test_lines_are_counted_as_yaml_counts_them(newline: str) -> None:
    text = newline.join(["a: 1", "b: 2", "a: 3", ""])
    root, problems = parse(text, Source("a.yaml", text))
    assert root is not None
    assert [(p.line, p.column, p.source) for p in problems] == [(3, 1, "a: 3")]


def test_text_that_is_no_yaml_at_all_is_one_problem_with_a_place() -> None:
    for text in (
        "}{",
        "a: [",
        "%YAML 9.9\n---\na: 1",
        "&",
        "a: 'b",
        "\ta: 1",
        "@x",
        "a: b: c",
        "- a\nb: 1",
        "!<tag",
        "? ",
        '"\\q"',
    ):
        root, problems = parse(text, Source("a.yaml", text))
        assert root is None or problems or text == "? "
        for p in problems:
            assert p.line >= 1 and p.column >= 1 and " — " in p.message


def test_nothing_unprintable_reaches_a_terminal() -> None:
    text = "\u202e: 1\n\u202e: 2\n"
    _, problems = parse(text, Source("a\u202e.yaml", text))
    assert problems and all(p.message.isprintable() for p in problems)
    assert all(line.isprintable() for line in str(problems[0]).splitlines()[1:])


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_megabyte_of_digits_is_told_at_once() -> None:
    started = time.process_time()
    assert "more digits" in plain("1" * 900_000)[1] and plain("1" * 900_000 + "x") == (
        "1" * 900_000 + "x",
        "",
    )
    assert time.process_time() - started < 0.5
