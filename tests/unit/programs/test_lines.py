"""Programs are read as Python reads them, and kept as they are: marks in strings, line ends of every kind,
byte order marks."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_fixtures import EVALUATOR, PROGRAM, imports

from evolake.errors import InputError
from evolake.programs.evolution.checking import check_project
from evolake.programs.gates import unreadable
from evolake.programs.model.program_text import (
    BadBlocks,
    Places,
    Unreadable,
    as_kept,
    cut,
    outside_change,
    parameters_in,
    parse,
)
from evolake.programs.model.project import load_project, project_of
from evolake.programs.roles import Edit, Measured, WriterReply, WriterRequest, applied, write
from evolake.programs.search.structure import MUTATIONS
from evolake.settings import load
from evolake.text_edits import BOM, lines_of, with_ends

ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
MARKED = '''"""Only what is between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END may change.

EVOLVE-BLOCK-START
"""
# Change nothing outside EVOLVE-BLOCK-START and EVOLVE-BLOCK-END.
HELP = "# EVOLVE-BLOCK-END"
# EVOLVE-BLOCK-START
def f(x):
    """EVOLVE-BLOCK-END is a mark in a comment only."""
    text = "# EVOLVE-BLOCK-START"
    y = x * 0.5
    z = y + 1.0
    return z
# EVOLVE-BLOCK-END

AFTER = """
# EVOLVE-BLOCK-START
"""
'''
NAME = "initial_program.py"


def mixed(text: str, seed: int) -> str:
    """The text with an end of its own for each line; no lone CR before an empty line, whose LF would be one
    end with it."""
    dice, lines = np.random.default_rng(seed), lines_of(text)
    kinds = [2 if following == "\n" else 3 for following in [*lines[1:], "\n"]]
    return "".join(
        line[:-1] + ["\n", "\r\n", "\r"][int(dice.integers(kind))]
        for line, kind in zip(lines, kinds, strict=True)
    )


def shapes(text: str) -> dict[str, str]:
    """The text with every kind of line ends, with and without a byte order mark."""
    ended = {name: with_ends(text, end) for name, end in ENDS.items()} | {
        "mixed": mixed(text, 1),
        "other-mixed": mixed(text, 2),
    }
    return ended | {f"{name}-bom": BOM + shape for name, shape in ended.items()}


SHAPES = shapes(MARKED)


def test_only_comments_are_marks():
    blocks = cut(MARKED, NAME)
    assert (
        len(blocks.blocks) == 1
        and blocks.blocks[0].startswith("def f(x):")
        and blocks.blocks[0].endswith("return z\n")
    )
    with pytest.raises(BadBlocks):
        cut(MARKED, "initial_program.c")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_is_cut_at_the_same_lines_whatever_its_ends(shape):
    text = SHAPES[shape]
    blocks = cut(text, NAME)
    assert blocks.text() == text
    assert [with_ends(piece) for piece in blocks.blocks] == list(cut(MARKED, NAME).blocks)
    assert [text[start:end] for start, end in blocks.spans()] == list(blocks.blocks)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_block_that_swallows_its_end_mark_changes_what_is_outside(shape):
    initial = SHAPES[shape]
    swallowed = initial.replace("    return z", "    return z\nS = '''", 1) + "'''\n"
    parse(swallowed)
    assert outside_change(initial, swallowed, NAME) == "the last EVOLVE-BLOCK-START has no EVOLVE-BLOCK-END"


def test_a_line_of_another_language_that_names_both_marks_is_refused():
    with pytest.raises(BadBlocks, match="line 2 names both"):
        cut("int x;\n/* EVOLVE-BLOCK-START */ int y; /* EVOLVE-BLOCK-END */\n", "a.c")


@settings(max_examples=200)
@given(st.text(alphabet="ab#'\"\\ \n\r\f\v\x1c\x85\u2028(", max_size=40))
def test_lines_are_those_of_python(text):
    assert "".join(lines_of(text)) == text
    try:
        tree = parse(text)
    except Unreadable:
        return
    places = Places(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Constant):
            start, end = places.span(node)
            assert ast.dump(ast.parse(text[start:end].strip(), mode="eval").body) == ast.dump(node)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_keeps_every_byte_outside_the_lines_that_it_changes(name, shape):
    text = SHAPES[shape]
    for seed in range(6):
        made = MUTATIONS[name](text, cut(text, NAME).spans(), np.random.default_rng(seed))
        if made is None:
            continue
        parse(made)
        assert outside_change(text, made, NAME) == ""
        assert made.startswith(BOM) == text.startswith(BOM)
        plain = MUTATIONS[name](MARKED, cut(MARKED, NAME).spans(), np.random.default_rng(seed))
        assert with_ends(made.removeprefix(BOM)) == plain, "the same change as of the text with LF"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_s_reply_with_lf_keeps_the_parent_s_bytes(shape):
    text = SHAPES[shape]
    change = Edit(
        file=NAME,
        search="    y = x * 0.5\n    z = y + 1.0\n",
        replace="    y = x * 0.75\n    new = 3\n    z = y + 1.0\n",
    )
    whole = MARKED.replace("x * 0.5\n", "x * 0.75\n    new = 3\n")
    for reply in (WriterReply(edits=[change]), WriterReply(whole={NAME: whole})):
        child = applied(reply, {NAME: text})
        assert isinstance(child, dict)
        assert outside_change(text, child[NAME], NAME) == ""
        old, new = lines_of(text), lines_of(child[NAME])
        assert len(new) == len(old) + 1
        assert [line for line in old if line not in new] == [line for line in old if "x * 0.5" in line]
        assert with_ends(child[NAME].removeprefix(BOM)) == whole
        if "mixed" not in shape:
            assert {line[len(line.rstrip("\r\n")) :] for line in new} == {
                line[len(line.rstrip("\r\n")) :] for line in old
            }


@pytest.mark.parametrize("shape", SHAPES)
def test_an_operator_s_child_is_not_written_again(shape):
    text = SHAPES[shape]
    request = WriterRequest(project="p", goal="", parent=Measured(score=1.0, files={NAME: text}))
    for seed in range(8):
        reply = write(request, np.random.default_rng(seed))
        child = applied(reply, {NAME: text})
        assert isinstance(child, dict) and child[NAME] == reply.whole.get(NAME, text)


@given(st.text(alphabet="ab\n\r", max_size=30), st.text(alphabet="ab\n\r", max_size=30), st.booleans())
def test_keeping_changes_nothing_but_line_ends(parent, child, bom):
    kept = as_kept((BOM if bom else "") + parent, child, NAME)
    assert with_ends(kept.removeprefix(BOM)) == with_ends(child)
    assert as_kept(parent, parent, NAME) == parent
    same = as_kept((BOM if bom else "") + parent, with_ends(parent), NAME)
    assert same == (BOM if bom else "") + parent


def test_a_change_outside_the_blocks_is_still_one():
    crlf = SHAPES["crlf-bom"]
    child = applied(WriterReply(whole={NAME: MARKED.replace("HELP", "HELPED")}), {NAME: crlf})
    assert isinstance(child, dict)
    assert "before block 1 is not the initial program's" in outside_change(crlf, child[NAME], NAME)


@pytest.mark.parametrize(
    "cookie",
    [
        "# -*- coding: utf-7 -*-",
        "# vim: set fileencoding=latin-1 :",
        "#!/usr/bin/python\n# coding: raw_unicode_escape",
        "# coding: nosuch",
    ],
)
def test_a_program_that_python_would_read_as_another_text_is_unreadable(cookie):
    assert "encoding" in unreadable({NAME: f"{cookie}\nx = 1\n"})
    assert "encoding" in unreadable({NAME: f"{BOM}{cookie}\r\nx = 1\r\n"})
    assert unreadable({NAME: "# -*- coding: UTF-8 -*-\nx = 1\n"}) == ""
    assert unreadable({NAME: f"x = 1\ny = 2\n{cookie}\n"}) == ""


def test_a_docstring_that_speaks_of_marked_numbers_marks_none():
    text = '"""Numbers are marked by EVOLVE-PARAM in a comment."""\nx = 3  # EVOLVE-PARAM 1 5 int\n'
    text += 'K = """\n#define B 8 /* EVOLVE-PARAM 1 9 int */\n"""\n'
    assert [item.value for item in parameters_in(text, NAME)] == [3.0, 8.0]
    with pytest.raises(ValueError, match="line 1"):
        parameters_in("x = 3  # EVOLVE-PARAM many\n", NAME)


@pytest.mark.parametrize("shape", ["crlf", "crlf-bom", "mixed-bom", "cr"])
def test_such_a_project_is_usable_and_its_bytes_stay(shape, tmp_path):
    """The evaluator has a byte order mark too; what the jail gets is the file as it is."""
    folder = tmp_path / "mine"
    folder.mkdir()
    data = SHAPES[shape].encode()
    (folder / NAME).write_bytes(data)
    evaluator = (
        "def evaluate(path):\n    data = open(path, 'rb').read()\n    exec(compile(data, path, 'exec'), "
        "globals())\n"
    )
    (folder / "evaluator.py").write_bytes(
        (BOM + evaluator + "    return {'combined_score': f(2.0), 'bytes': len(data)}\n").encode()
    )
    project = load_project(folder)
    done = check_project(project, load().of(_settings()), load(), 2)
    assert done.passed, done.to_json()["reason"]
    assert done.evaluations[0].metrics == {"combined_score": 2.0, "bytes": float(len(data))}


def _settings():
    from evolake.programs.settings import ProgramsSettings

    return ProgramsSettings


def test_a_program_with_a_byte_order_mark_is_called_by_its_entry(tmp_path):
    files = {
        NAME: (BOM + "def f(x):\r\n    return x + 1\r\n").encode(),
        "evaluator.py": (
            b"def cases(seed):\n    return [1.0]\ndef score(cases, results):\n    return "
            b"{'combined_score': results[0]['output']}\n"
        ),
        "project.toml": b'[program]\nentry = "f"\n[evaluator]\nmode = "separate"\n',
    }
    done = check_project(project_of("mine", files), load().of(_settings()), load(), 2)
    assert done.passed, done.to_json()["reason"]
    assert done.scores == [2.0, 2.0]


def test_bad_marks_name_their_line():
    assert imports().main == NAME
    with pytest.raises(InputError, match="cannot evolve") as raised:
        project_of("mine", {NAME: b"x = 1\r# EVOLVE-BLOCK-END\r", "evaluator.py": EVALUATOR.encode()})
    assert raised.value.got == "line 2: a block ends that never started"
    assert cut(PROGRAM, NAME).text() == PROGRAM
