"""README, docs/, help texts and docstrings use the plain words, and the count of what is left in docstrings
only falls."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def words():
    spec = importlib.util.spec_from_file_location("words", ROOT / "docs" / "generate" / "words.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["words"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["words"]


def test_no_page_has_a_word_with_a_replacement(words):
    assert words.page_hits(words.table()) == []


def test_no_help_text_has_a_word_with_a_replacement(words):
    texts = dict(words.help_texts())
    assert len(texts) > 60 and "cycles" in texts["evolake run"]
    assert words.help_hits(words.table()) == []


def test_docstrings_of_no_package_have_more_hits_than_before(words):
    found = words.docstring_hits(words.table())
    assert set(words.table()["docstrings"]) <= set(found)
    assert words.over_budget(found, words.table()["docstrings"]) == []
    package, hits = max(found.items(), key=lambda item: len(item[1]))
    assert words.over_budget(found, words.table()["docstrings"] | {package: len(hits) - 1})[0].startswith(
        f"{package}: {len(hits)} hits"
    )


def test_the_number_of_a_package_is_never_raised(words):
    one, hit = '"evolake.lake" = 3\n"evolake.jail" = 0\n', words.Hit("a.py:1", "anew", "again")
    found, less = {"evolake.lake": [hit], "evolake.jail": [hit]}, one.replace("3", "1")
    assert (
        words.lowered(f"[docstrings]\n{one}\n[messages]\n{one}", found)
        == f"[docstrings]\n{less}\n[messages]\n{one}"
    )
    assert (
        words.lowered(f"[docstrings]\n{one}\n[messages]\n{one}", found, "messages")
        == f"[docstrings]\n{one}\n[messages]\n{less}"
    )


def test_no_title_of_the_cookbook_has_a_word_with_a_replacement(words):
    assert words.title_hits(words.table()) == []
    assert [hit.word for hit in words.title_hits({"words": {"artifacts?": "thing"}})] != []


def test_no_template_of_the_report_has_a_word_with_a_replacement(words):
    assert words.template_hits(words.table()) == []
    assert [hit.word for hit in words.template_hits({"words": {"champions?": "thing"}})] != []
    assert words.MARKUP.sub("", '<h2 class="told">{{ told }}Shown{% if told %}</h2>') == "Shown"


def test_messages_of_no_package_have_more_hits_than_before(words):
    found, allowed = words.message_hits(words.table()), words.table()["messages"]
    assert set(allowed) == set(found)
    assert words.over_budget(found, allowed, "messages") == []
    assert [
        name for name in ("tables", "assets", "evolake.cli", "evolake.lake", "evolake.report") if found[name]
    ] == []


def test_sentences_are_strings_with_a_blank_and_no_docstrings(words, tmp_path):
    (tmp_path / "a.py").write_text(
        '"""A docstring told."""\nx = "told here"\ny = f"{x} goes on {x}"\nz = "told"\nq = "SELECT told '
        'FROM t"\n"""Of q, told."""\n'
    )
    assert sorted(words.sentences(tmp_path / "a.py")) == [(2, "told here"), (3, "{} goes on {}")]


def test_code_and_targets_of_links_are_no_prose(words):
    page = (
        "Run `evolake\ntape` anew.\n\n    evolake tape list\n\n```sh\nnobody\n```\n\n- One item,\n\n    "
        "which stands here.\n\n"
        "Read [this page](beside.md) at\nonce: https://example.org/told\n"
    )
    assert [
        (hit.place, hit.word) for hit in words.hits("page", words.prose(page), words.table()["words"])
    ] == [("page:2", "anew"), ("page:12", "stands"), ("page:14", "at once")]


def test_a_sentence_is_counted_without_tables_and_code(words):
    page = (
        "# A title of six words here\n\nOne two three four. Five six\nseven eight nine ten.\n\n| a | b c "
        "d |\n\n    some code here\n"
    )
    assert words.words_per_sentence(page) == 5.0


def test_codespell_finds_nothing(words):
    assert words.misspelt(words.table()) == []
