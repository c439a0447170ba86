"""Templates of programs: what is filled in, and that what they make is the same to the byte, since ids of
families hang on it."""

from __future__ import annotations

import ast
import hashlib
import sys
from pathlib import Path

import pytest

import evolake
from evolake.families.commands import new as families_new
from evolake.families.dataset.reward import reward_source
from evolake.families.gates.code_changes import TURNED
from evolake.families.gates.reading import WAYS, reader_from
from evolake.families.model.contract import Family
from evolake.families.operators.common import glue_of, plain_head
from evolake.families.sandbox.external import external_family
from evolake.families.worlds import constraint, process
from evolake.families.worlds.actions import bound_actions
from evolake.families.worlds.boards import drawing as boards
from evolake.families.worlds.laws import LAWS
from evolake.families.worlds.questions import QUESTIONS
from evolake.families.worlds.queues import drawing as queues
from evolake.families.worlds.run_themes import RUN_THEMES
from evolake.families.worlds.runs import RUNS
from evolake.families.worlds.structures import STRUCTURES
from evolake.gates.code_version import code_version
from evolake.program_templates import MARKER, PLACE, fill_template, load_template
from evolake.programs.commands import template as programs_new

ROOT = Path(evolake.__file__).parent
WHOLE_FILES = ROOT / "designs" / "templates"
"""Designs as they are written out, with no place to be filled in."""
TEMPLATES = sorted(path for path in ROOT.glob("**/templates/**/*.py") if path.parent != WHOLE_FILES)


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "filling", None)
    monkeypatch.delitem(sys.modules, "filling")
    (tmp_path / "filling").mkdir()
    load_template.cache_clear()
    return tmp_path / "filling"


def test_places_are_filled_in(templates: Path) -> None:
    (templates / "one.py").write_text(
        f'"""Head."""\n__gives__ = __body__ = None\n{MARKER}def f(x):\n    __body__\n    return '
        '__gives__, "slot__gives__", __name__\n',
        encoding="utf-8",
    )
    assert fill_template("filling.one", body="    x += 1\n    x *= 2\n", gives="x", name="'a'") == (
        "def f(x):\n    x += 1\n    x *= 2\n    return x, \"slotx\", 'a'\n"
    )
    assert fill_template("filling.one", body="", gives=7, name="__gives__").splitlines() == [
        "def f(x):",
        '    return 7, "slot7", __gives__',
    ]
    with pytest.raises(KeyError, match="body"):
        fill_template("filling.one", gives="x", name="y")


def test_a_template_that_is_none_is_an_error(templates: Path) -> None:
    (templates / "two.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no line '# --- program ---'"):
        load_template("filling.two")
    with pytest.raises(ModuleNotFoundError, match=r"no template filling\.three"):
        load_template("filling.three")


@pytest.mark.parametrize(
    "path", TEMPLATES, ids=[path.relative_to(ROOT).with_suffix("").as_posix() for path in TEMPLATES]
)
def test_a_head_declares_the_places_of_its_program(path: Path) -> None:
    head, marker, text = path.read_text(encoding="utf-8").partition(MARKER)
    names = {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and PLACE.fullmatch(node.id)
    }
    names |= {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and PLACE.fullmatch(node.name)
    }
    declared = {
        node.id
        for node in ast.walk(ast.parse(head))
        if isinstance(node, ast.Name) and PLACE.fullmatch(node.id)
    }
    assert marker and ast.get_docstring(ast.parse(head)) and declared == names


def test_a_changed_template_is_another_version_of_the_code(templates: Path) -> None:
    source = 'from filling import x\n\n\ndef made():\n    return fill_template("filling.three", x=x)\n'
    (templates / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    (templates / "making.py").write_text(source, encoding="utf-8")
    versions = []
    for body in ("return 1", "return 2"):
        (templates / "three.py").write_text(f'"""Head."""\n{MARKER}def f():\n    {body}\n', encoding="utf-8")
        versions.append(code_version(["filling.making"], package="filling"))
    assert versions[0] != versions[1]


def _digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _sources(families: list[Family]) -> list[str]:
    return [source for family in families for source in (family.family_id, *family.sources().values())]


def _constraint_worlds() -> list[Family]:
    result = []
    for name, structure in STRUCTURES.items():
        laws = [law for law in LAWS if name in law.structures][:2]
        asked = [question for question in QUESTIONS if name in question.structures]
        kinds = list(structure.kinds)[:6]
        result += [
            constraint.world_of(structure, structure.themes[0], kinds, laws, question)
            for question in (asked[0], asked[-1])
        ]
    return result


def _runs() -> list[Family]:
    known, result = bound_actions(), []
    for number, run in enumerate(RUNS):
        rules = {
            point: [known[(7 * number + 3 * place + turn) % len(known)] for turn in (0, 50)]
            for place, point in enumerate(process.POINTS)
        }
        chosen = dict(list(rules.items())[: len(rules) - number % 2])
        result.append(
            process.run_world_of(RUN_THEMES[number % len(RUN_THEMES)], chosen, run, "ab"[number % 2])
        )
    return result


def test_worlds_are_the_same_to_the_byte() -> None:
    board_rules = {point: boards.chosen_rules(point)[:2] for point in boards.POINTS}
    queue_rules = {point: [queues.chosen_rules(point)[place] for place in (0, -1)] for point in queues.POINTS}
    assert {
        "constraints": _digest(_sources(_constraint_worlds())),
        "runs": _digest(_sources(_runs())),
        "boards": _digest(
            _sources(
                [
                    boards.board_of(boards.BOARD_THEMES[0], board_rules, question)
                    for question in boards.QUESTIONS
                ]
            )
        ),
        "queues": _digest(
            _sources(
                [
                    queues.queue_of(queues.QUEUE_THEMES[0], queue_rules, question)
                    for question in queues.QUESTIONS
                ]
            )
        ),
    } == {
        "constraints": "ec3247a8ad864b6e",
        "runs": "746afb1ec15de7cf",
        "boards": "2dd1056a1c6b4f17",
        "queues": "195f4feffba3c48e",
    }


def test_glue_and_written_files_are_the_same_to_the_byte() -> None:
    """The children themselves are put together by `ast.unparse`, which is another with each minor version of
    Python."""
    expressions = (
        "code",
        "drawn",
        "draws",
        "index",
        "keeps",
        "keys",
        "least",
        "list",
        "none",
        "number",
        "paths",
        "result",
        "rule",
        "tests",
    )
    others = ("bottom", "high", "legal", "letter", "letters", "low", "slot", "top", "value", "words")
    places = dict.fromkeys(expressions, 7) | dict.fromkeys(others, 8)
    made = [
        glue_of(name, "Part", 1, (plain_head(), ""), **places, marker="Part")
        for name in ("pipe", "guard", "invert", "aggregate", "filter")
    ]
    wrapped = ("forged", "generate", "leak", "miscounted", "read_limit", "solve", "wrong")
    values = {"body": "", "expression": "answer", "head": "", "key": "'k'", "pattern": "'p'"}
    assert {
        "operators": _digest(
            [text for glue in made for text in (glue.generate, glue.solve, glue.other, glue.read)]
        ),
        "faults": _digest(
            [fill_template(f"evolake.families.faults.templates.{name}", **values) for name in wrapped]
        ),
        "gates": _digest(
            [
                WAYS,
                TURNED,
                reader_from("[Input Slot 1]", [{"inputs": {"n": 4, "c": "x"}, "slots": ["4"]}]) or "",
            ]
        ),
        "blind": _digest(
            [fill_template("evolake.families.roles.templates.blind", reader="'r'", strategy="'s'")]
        ),
        "external": _digest([external_family("chain_sum").generator]),
        "reward": _digest([reward_source()]),
        "families new": _digest([*families_new.FILES, *families_new.FILES.values()]),
        "programs new": _digest([*programs_new.FILES, *programs_new.FILES.values()]),
    } == {
        "operators": "efe52eee8e968852",
        "faults": "79140dd78478a5e0",
        "gates": "9f6748c34878f38b",
        "blind": "5f58d94cb13a3a9d",
        "external": "25c64eab10cc2813",
        "reward": "f082b63dd96e33a4",
        "families new": "1a59eb1d6d4ca4a4",
        "programs new": "a624a229fd713f56",
    }
