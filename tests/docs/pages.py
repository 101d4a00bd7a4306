"""What stands in the pages for readers: their fenced blocks, and commands with what they print.

- `yaml file=NAME` is a file, there for the commands after it; `yaml part` is a piece of one.
- `console` holds commands after `$` and what they print; `…` stands for anything, a line of its own
  for any lines. `# ends with 1` behind a command is its exit code, else 0.
- `python` is run; functions that begin with test_ are called.
- `sh` is for what is not ours (pip, CI's own files), `text` for what is no output.
- The word `slow` or `spark` behind the language: it takes minutes, or a real Spark.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
GENERATED = ("reference.md",)  # printed by the code, and held by a test of its own
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    words: tuple[str, ...]
    body: str
    line: int

    @property
    def file(self) -> str:
        return next((w.removeprefix("file=") for w in self.words if w.startswith("file=")), "")


@dataclass(frozen=True)
class Command:
    """One command of a console block: what is typed after `rebalsim`, how it ends, and what it
    prints.
    """

    args: tuple[str, ...]
    ends_with: int
    printed: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in _FENCE.finditer(text):
        language, *words = fence.group(1).split() or [""]
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(language, tuple(words), fence.group(2), line))
    return found


def commands_of(block: Block) -> list[Command]:
    found = []
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        typed, _, printed = part.partition("\n")
        code = re.search(r"\s+# ends with (\d+)$", typed)
        words = shlex.split(typed[: code.start()] if code else typed)
        assert words[0] == "rebalsim", f"line {block.line}: only rebalsim is played, not {words[0]}"
        found.append(Command(tuple(words[1:]), int(code.group(1)) if code else 0, printed))
    return found


def is_as_shown(printed: str, shown: str) -> bool:
    """Does the output read as the page shows it, `…` standing for anything?"""
    lines = [line.rstrip() for line in shown.strip("\n").split("\n")]
    patterns = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\s*\n"
        for line in lines
    ]
    tidy = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
    return re.fullmatch("".join(patterns), tidy) is not None
