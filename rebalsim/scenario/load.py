"""The only file of this room that opens files: a path or the name of a stock story → a `Story`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rebalsim.domain.errors import InputError, Problem, ProblemsError
from rebalsim.outside.files import first_bytes, read_stdin
from rebalsim.scenario.document import MAX_BYTES, Mapping, decode, parse
from rebalsim.scenario.overrides import Override
from rebalsim.scenario.problems import in_order
from rebalsim.scenario.source import Source, shorten
from rebalsim.scenario.story import Story
from rebalsim.words.nearest import or_nearest

_PACKAGE = Path(__file__).resolve().parent.parent


def load_scenario(
    path_or_name: str | Path, overrides: Iterable[Override] = (), allow_code: bool = False
) -> Story:
    """The story in this file, or the stock story of this name; `-` reads standard input.

    Raises ProblemsError with everything that is wrong in any variant, InputError where there is
    no such file.
    """
    return read_story(path_or_name, overrides, allow_code).check()


def read_story(
    path_or_name: str | Path, overrides: Iterable[Override] = (), allow_code: bool = False
) -> Story:
    """The story in this file, even where it has problems, as long as its text can be read: `lint`
    shows them beside its own.
    """
    name, raw = read_bytes(path_or_name)
    return story_of(raw, name, overrides, allow_code)


def code_folder(allow_code: bool) -> str:
    """Where own assignors are looked for, besides Python's own path: the current directory, where
    code may be run at all.
    """
    return str(Path.cwd()) if allow_code else ""


def story_of(
    raw: bytes,
    name: str,
    overrides: Iterable[Override] = (),
    allow_code: bool = False,
    code_from: str = "",
) -> Story:
    """The story in these bytes. Raises ProblemsError where they are no YAML block at all.
    `code_from`: its code was allowed elsewhere, and lies in this folder.
    """
    text, found = decode(raw, name)
    if found:
        raise ProblemsError(tuple(found))
    source = Source(name, text)
    root, found = parse(text, source)
    if root is not None and not isinstance(root, Mapping):
        found.append(
            root.problem(
                "A scenario is a block of settings — begin with topics: and group:, or with "
                "`rebalsim init`"
            )
        )
    if not isinstance(root, Mapping):
        raise ProblemsError(in_order(found))
    return Story(root, source, tuple(overrides), code_from or code_folder(allow_code), tuple(found))


def read_bytes(path_or_name: str | Path) -> tuple[str, bytes]:
    """The file's name as messages show it, and its bytes (one more than allowed at most)."""
    if str(path_or_name) == "-":
        return "standard input", read_stdin(MAX_BYTES)
    path = find_story(path_or_name)
    name = str(path_or_name) if path == Path(path_or_name) else path.name
    return name, first_bytes(path, MAX_BYTES + 1)


def find_story(path_or_name: str | Path) -> Path:
    """The file that a path or a stock story's name means."""
    path = Path(path_or_name)
    if path_or_name == "":
        raise InputError("SCENARIO is empty, and names nothing — give a file or a stock story")
    try:
        if path.is_file() or (path.exists() and not path.is_dir()):
            return path
        is_folder = path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a nought in it
        raise InputError(
            f"'{shorten(str(path_or_name))}' is no file name — write the path of a scenario"
        ) from None
    stock = stock_stories()
    name = str(path_or_name)
    if name in stock:
        return stock[name]
    if is_folder:
        raise InputError(f"{path} is a folder — name a scenario file in it")
    hint = or_nearest(path.stem, stock, "`rebalsim init` writes one")
    raise InputError(f"There is no file and no stock story '{shorten(name)}' — {hint}")


def stock_folder() -> Path:
    """Where what ships lies: in a wheel beside the package's rooms, in a clone under scenarios/."""
    shipped = _PACKAGE / "stock"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "scenarios"


def stock_stories() -> dict[str, Path]:
    """The stories that ship with rebalsim, by name: in a wheel beside the package's rooms, in a
    clone under scenarios/.
    """
    for folder in (_PACKAGE / "stock", _PACKAGE.parent / "scenarios"):
        if folder.is_dir():
            return {p.stem: p for p in sorted(folder.glob("*.yaml"))}
    return {}


def good_files() -> list[bytes]:
    """Every story that ships, the starter included: what `fuzz` breaks."""
    return [path.read_bytes() for path in stock_stories().values()] + [starter().encode()]


def starter() -> str:
    """The scenario that `init` writes when it is given no story to begin with."""
    return (Path(__file__).parent / "starter.yaml").read_text(encoding="utf-8")


__all__ = ["Problem", "find_story", "load_scenario", "read_story", "stock_stories", "story_of"]
