"""What docs/architecture.md counts under "Adding things": one file with what is added, its test, and no list
elsewhere."""

import ast
import re
import string
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from markupsafe import Markup
from prompt_checks import marked_request

from evolake.agents.prompts import load_prompt, placeholders
from evolake.agents.roles import roles_in
from evolake.errors import MachineryError
from evolake.lines import folder_of, modules_of
from evolake.objectives.family import Family, families_in
from evolake.objectives.portfolio import BASELINE_FAMILY, OBJECTIVE_FAMILIES, make
from evolake.objectives.source import FAMILY_FOLDER, HELPERS
from evolake.report.figures import by_place, draw_figures, figures_in
from evolake.report.pages import Section
from evolake.solvers.objectives import portfolio as solvers

ROOT = Path(__file__).resolve().parents[3]
LINES_WITH_FIGURES = ("designs", "families", "programs", "prompts", "repair", "solvers", "utility")
LINES_WITH_ROLES = ("designs", "families", "programs", "prompts", "solvers")
PORTFOLIOS = {
    "designs": (FAMILY_FOLDER, HELPERS, OBJECTIVE_FAMILIES),
    "solvers": (solvers.FOLDER, solvers.HELPERS, solvers.FAMILIES),
}


def package_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str]) -> str:
    """A package of these files, importable."""
    (tmp_path / name).mkdir()
    for file, text in {"__init__.py": "", **files}.items():
        (tmp_path / name / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for module in [item for item in sys.modules if item.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    return name


def strings_of(path: Path) -> set[str]:
    """Every string that stands in a module, whole."""
    result = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    return {value for value in result if isinstance(value, str)}


@pytest.mark.parametrize("line", PORTFOLIOS)
def test_every_file_of_the_folder_is_a_family_of_objectives_and_nothing_lists_them(line):
    folder, helpers, families = PORTFOLIOS[line]
    assert set(families) == set(modules_of(folder)) - {helpers, BASELINE_FAMILY}
    elsewhere = {text for path in folder_of(folder).parent.glob("*.py") for text in strings_of(path)}
    assert set(families) & elsewhere <= {"par2"}  # the first objective of the solvers' portfolio
    for name, family in families.items():
        fields = {field for _, field, _, _ in string.Formatter().parse(family.description) if field}
        drawn = {**family.choices, **family.ranges}
        assert fields <= set(drawn) and drawn, name
        assert (
            make(
                name,
                {constant: values[0] for constant, values in drawn.items()},
                "",
                folder=folder,
                helpers=helpers,
            ).family
            == name
        )


@pytest.mark.parametrize("line", LINES_WITH_FIGURES)
def test_every_figure_of_a_line_is_shown_by_its_page_and_nothing_else_lists_them(line):
    package = f"evolake.{line}.report.figures"
    figures = figures_in(package)
    assert len(figures) >= 3
    report = folder_of(f"evolake.{line}.report")
    template = "".join(path.read_text() for path in (report / "templates").glob("*.j2"))
    places = set(re.findall(r'pictures\(placed\["(\w+)"\][,)]', template)) | (
        {"figures"} if "pictures(figures)" in template else set()
    )
    assert {figure.place for figure in figures} <= places
    if line == "repair":
        return  # its figures bear the names of its tables
    modules = [
        path
        for folder in (f"evolake.{line}.report", f"assets.{line}")
        for path in folder_of(folder).glob("*.py")
        if path.name != "figures.py"
    ]
    elsewhere = {text for path in modules for text in strings_of(path)}
    assert {figure.title for figure in figures} & elsewhere == set()
    assert not [figure.title for figure in figures if f'"{figure.title}"' in template]


def test_a_figure_is_one_file(tmp_path, monkeypatch):
    text = (
        "from evolake.report.figures import Figure\n\nFIGURES = [Figure({title!r}, lambda given: given and "
        "given * {times}, {more})]\n"
    )
    files = {
        "second.py": text.format(title="Second", times=2, more="asset='survivors'"),
        "first.py": text.format(title="First", times=1, more="order=1"),
        "third.py": text.format(title="Third", times=3, more="place='top'"),
    }
    package = package_of(tmp_path, monkeypatch, "some_figures", files)
    drawn = draw_figures(package, b"x")
    assert drawn == {"First": b"x", "Second": b"xx", "Third": b"xxx"}
    assert list(drawn) == ["First", "Second", "Third"]
    assert by_place(package, drawn) == {"figures": {"First": b"x", "Second": b"xx"}, "top": {"Third": b"xxx"}}
    assert draw_figures(package, b"x", asset="survivors") == {"Second": b"xx"}
    assert draw_figures(package, None) == {}


NAMED_A = "from evolake.report.figures import Figure\nFIGURES = [Figure('A', id)]"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"bare.py": ""}, "bare of .* draws no figure"),
        ({"one.py": NAMED_A, "two.py": NAMED_A}, "two figures of .* are called 'A'"),
    ],
)
def test_a_module_that_draws_nothing_and_a_title_given_twice_are_told(files, message, tmp_path, monkeypatch):
    package = package_of(tmp_path, monkeypatch, "wrong_figures", files)
    with pytest.raises(MachineryError, match=message):
        figures_in(package)


def test_a_figure_that_no_place_of_the_page_shows_is_told():
    with pytest.raises(MachineryError, match="'Bridges' is not on the page of x"):
        Section("x", "0001", Markup(""), Markup("<h1>x</h1>"), {"Bridges": b"png"})


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("line", LINES_WITH_ROLES)
def test_a_role_stands_in_one_module_and_its_prompt_has_a_place_for_every_field(line):
    roles = roles_in(f"evolake.{line}.roles")
    assert roles
    for role in roles:
        assert role.name.startswith(f"{line}_")
        values = role.prompt_values(marked_request(role.request))
        assert set(values) == placeholders(load_prompt(role.prompt or role.name)), role.name
    found = [
        path
        for package in ("evolake", "assets", "pipelines", "resources")
        for path in folder_of(package).rglob("*.py")
    ]
    modules = [path for path in found if path.name != "feedback.py"]
    naming = {path: strings_of(path) for path in modules}
    assert {role.name: sum(role.name in result for result in naming.values()) for role in roles} == {
        role.name: 1 for role in roles
    }


def test_a_role_is_found_in_its_module(tmp_path, monkeypatch):
    text = """from pydantic import BaseModel

from evolake.agents.roles import Role


class Question(BaseModel):
    text: str


class Answer(BaseModel):
    text: str


CLERK = Role("bridges_clerk", Question, Answer, lambda question, random: Answer(text=question.text))
"""
    package = package_of(
        tmp_path,
        monkeypatch,
        "some_roles",
        {"clerk.py": text, "models.py": "", "user.py": "from some_roles.clerk import CLERK"},
    )
    assert [role.name for role in roles_in(package)] == ["bridges_clerk"]


def test_an_objective_is_one_file(tmp_path, monkeypatch):
    text = '''"""Cost of the first."""

from evolake.objectives.family import Family

FAMILY = Family("the first", "the first, times {FACTOR}", ranges={"FACTOR": (1.0, 2.0)})

FACTOR = 1.5


def objective(results):
    """Scaled."""
    return FACTOR * results[0]["cost"] if results else 1e9
'''
    folder = package_of(tmp_path, monkeypatch, "some_objectives", {"first.py": text, "levels.py": ""})
    assert families_in(folder) == {
        "first": Family("the first", "the first, times {FACTOR}", ranges={"FACTOR": (1.0, 2.0)}, name="first")
    }
    source = make("first", {"FACTOR": 1.25}, "", folder=folder).source
    assert "FAMILY" not in source and "import" not in source
    namespace: dict = {}
    exec(source, namespace)
    assert namespace["objective"]([{"cost": 2.0}]) == 2.5
