"""Scenarios as pytest tests: `pytest scenarios/` holds every budget, one test per variant and
budget. Loaded by pytest wherever rebalsim is installed.

So it imports nothing of rebalsim until there is a YAML file to look at, and leaves alone every
file that is no scenario. `rebalsim = false` in pytest's configuration switches it off.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rebalsim.analysis.baseline import Baseline
    from rebalsim.check.one_story import Question, StoryJudge


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "rebalsim", "Collect rebalsim's scenarios (*.yaml) as tests.", type="bool", default=True
    )
    parser.addini(
        "rebalsim_folders",
        "Folders in which every *.yaml is a scenario, whatever it looks like.",
        type="paths",
        default=[],
    )
    parser.addini(
        "rebalsim_baseline",
        "The baseline that budgets such as '<= baseline + 5%' are held against.",
        default="",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in (".yaml", ".yml") or not parent.config.getini("rebalsim"):
        return None
    from rebalsim.check.find import head_of, is_surely_scenario

    folders = parent.config.getini("rebalsim_folders")
    if not is_surely_scenario(file_path, head_of(file_path), folders):
        return None
    own = _told_by_pytest(file_path, parent.config)
    if told_line(own) == own:
        return ScenarioFile.from_parent(parent, path=file_path)
    # its own name would be obeyed by whoever shows it
    return ScenarioFile.from_parent(
        parent, path=file_path, nodeid=told_line(own), name=told_line(file_path.name)
    )


def _told_by_pytest(path: Path, config: pytest.Config) -> str:
    """What pytest itself would call the file."""
    root = config.rootpath
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


class BudgetWarning(pytest.PytestWarning):
    """A budget of level warn is not kept."""


class ScenarioFile(pytest.File):
    """One scenario; its runs are shared by the tests of its budgets."""

    judge: StoryJudge

    def collect(self) -> Iterator[pytest.Item]:
        from rebalsim.check.many import name_in_baseline
        from rebalsim.check.one_story import StoryJudge
        from rebalsim.domain.errors import RebalsimError
        from rebalsim.scenario.load import load_scenario

        try:
            story = load_scenario(self._name())
            known = self._baseline()
        except RebalsimError as e:
            # one failing test: an error while collecting would stop all the others
            yield BrokenScenario.from_parent(self, name="is a scenario", said=str(e))
            return
        figures = (
            None
            if known is None
            else {
                v: one.metrics
                for v, one in known.stories.get(name_in_baseline(self._name()), {}).items()
            }
        )
        self.judge = StoryJudge(story, baseline=figures, tells_spread=True)
        seen: dict[str, None] = {}
        for question in self.judge.questions:
            name = f"{question.variant}: {question.name}"
            if name in seen:
                name += f" (line {question.asked.line})"
            seen[name] = None
            yield BudgetTest.from_parent(self, name=told_line(name), question=question)

    def _name(self) -> str:
        """The file as seen from where pytest runs: what messages show."""
        path, here = self.path, Path.cwd()
        return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)

    def _baseline(self) -> Baseline | None:
        name = self.config.getini("rebalsim_baseline")
        if not name:
            return None
        from rebalsim.domain.errors import InputError
        from rebalsim.outside.files import read_text
        from rebalsim.reports.baseline_file import parse

        path = self.config.rootpath / name
        try:
            return parse(read_text(path), name)
        except InputError as e:
            raise InputError(f"{e}; correct rebalsim_baseline in pytest's configuration") from None


class BrokenScenario(pytest.Item):
    """A file that means to be a scenario and is none."""

    def __init__(self, said: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.said = said

    def runtest(self) -> None:
        raise NotKept(self.said)

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        return told(self.said) if excinfo.errisinstance(NotKept) else str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return Path(told_line(str(self.path))), 0, told_line(f"{self.path.name}: {self.name}")


def told(text: str) -> str:
    """As it is shown: inert, and under GitHub Actions no order to the runner."""
    import os

    from rebalsim.outside.text import inert, no_orders

    shown = inert(text)
    return no_orders(shown) if os.environ.get("GITHUB_ACTIONS") == "true" else shown


def told_line(text: str) -> str:
    """A name as it is shown: inert, and on one line."""
    from rebalsim.outside.text import inert_line

    return told(inert_line(text))


class NotKept(Exception):
    """A budget is broken or undecided; the message is the whole report."""


class BudgetTest(pytest.Item):
    """One budget or expectation in one variant."""

    def __init__(self, *, question: Question, **rest: Any) -> None:
        super().__init__(**rest)
        self.question = question

    def runtest(self) -> None:
        from rebalsim.domain.budget import Level
        from rebalsim.domain.errors import Problem
        from rebalsim.domain.verdict import Outcome
        from rebalsim.reports.verdict_told import tell_failure

        assert isinstance(self.parent, ScenarioFile)
        found = self.parent.judge.one(self.question)
        if isinstance(found, Problem):
            raise NotKept(str(found))
        self.user_properties += [("observed", found.said), ("seed", str(found.seed))]
        if found.outcome is Outcome.PASS:
            return
        from rebalsim.check.advised import advised_one

        found = advised_one(self.parent.judge, self.question, found)
        if found.level == Level.WARN:
            warnings.warn(BudgetWarning(told(tell_failure(found))), stacklevel=1)
            return
        raise NotKept(tell_failure(found))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], *rest: Any, **named: Any
    ) -> Any:
        if isinstance(excinfo.value, NotKept):
            return told(str(excinfo.value))
        return super().repr_failure(excinfo, *rest, **named)

    def reportinfo(self) -> tuple[Path, int, str]:
        return Path(told_line(str(self.path))), max(self.question.asked.line - 1, 0), self.name
