"""The tool `search`: what it finds, in which order, and which corpora are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tools import (
    NOTHING_FOUND,
    PASSAGE,
    SHOWN,
    Document,
    Search,
    check_tools,
    corpus_of,
    corpus_sha,
    passages,
    read_corpus,
)

LIBRARY = [
    Document("Alps", "Mont Blanc is 4806 metres high. It stands in the Alps between France and Italy."),
    Document("Andes", "Aconcagua is 6961 metres high. It stands in the Andes."),
    Document("Rivers", "The Rhône rises in the Alps and ends in the sea."),
    Document("", "A text without a title about nothing but cheese."),
]
INDEX = Search(LIBRARY)


def answer_to(query: str) -> str:
    [answer] = INDEX.answer([query])
    assert answer.status == "ok"
    return answer.text


def test_the_passage_that_fits_best_comes_first():
    assert answer_to("height of Mont Blanc in metres").splitlines()[0] == f"[1] Alps: {LIBRARY[0].text}"
    assert answer_to("How high is Aconcagua?").splitlines()[0] == f"[1] Andes: {LIBRARY[1].text}"
    assert answer_to("cheeses") == f"[1] {LIBRARY[3].text}"
    assert answer_to("RHONE") == f"[1] Rivers: {LIBRARY[2].text}"
    assert answer_to("zebra") == NOTHING_FOUND


def test_one_fact_counts_wherever_it_stands_in_a_long_document():
    words = [f"word{number}" for number in range(3 * PASSAGE)]
    words[2 * PASSAGE + 5] = "needle"
    [answer] = Search([Document("long", " ".join(words)), Document("short", "hay")]).answer(["needle"])
    assert answer.text == f"[1] long: {' '.join(words[2 * PASSAGE :])}"
    assert [len(passage.split()) for passage in passages(" ".join(words[:250]))] == [PASSAGE, PASSAGE, 50]


def test_it_shows_a_few_and_those_of_equal_rank_in_the_order_of_the_corpus():
    [answer] = Search([Document(str(number), "the same words") for number in range(9)]).answer(["same"])
    assert answer.text.splitlines() == [
        f"[{number}] {number - 1}: the same words" for number in range(1, SHOWN + 1)
    ]


@given(st.text(st.sampled_from(list("\"'*()^:-+{}.AND OR NOT NEAR alps_\x00é²\n")), max_size=30))
def test_no_query_is_an_error_of_the_index(query):
    [answer] = INDEX.answer([query])
    assert answer.status == ("ok" if any(letter.isalnum() for letter in query) else "error")


def test_a_corpus_is_a_folder_of_texts_and_rows_in_the_order_of_names(tmp_path):
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "deep.md").write_text("deep text")
    (tmp_path / "a.jsonl").write_text(
        '{"id": 7, "contents": "seven"}\n\n{"id": "x", "title": "Eight", "text": "eight", "contents": "no"}\n'
    )
    (tmp_path / "left.out").write_text("no document")
    read = read_corpus(str(tmp_path))
    assert read == [Document("7", "seven"), Document("Eight", "eight"), Document("b/c/deep", "deep text")]
    assert read_corpus(str(tmp_path / "a.jsonl")) == read[:2]
    assert corpus_sha(read) != corpus_sha(read[:2]) and corpus_sha(read) == corpus_sha(list(read))
    own = PromptsSettings(tools=["search"], corpus=str(tmp_path))
    assert corpus_of(own) == corpus_sha(read)
    assert corpus_of(own.model_copy(update={"tools": ["python"]})) is None


@pytest.mark.parametrize(
    ("files", "place", "complaint"),
    [
        ({}, "nosuch", "there is no corpus"),
        ({"folder/keep.csv": "a"}, "folder", "is empty"),
        ({"a.csv": "a"}, "a.csv", "cannot be read as a corpus"),
        ({"a.txt": " \n"}, "a.txt", "is empty"),
        ({"a.jsonl": "{\n"}, "a.jsonl", "row 1 of"),
        ({"a.jsonl": "[1]\n"}, "a.jsonl", "row 1 of"),
        ({"a.jsonl": json.dumps({"text": 5})}, "a.jsonl", "row 1 of"),
        ({"a.jsonl": "[" * 100_000}, "a.jsonl", "row 1 of"),
    ],
)
def test_what_is_no_corpus_is_told(tmp_path, files, place, complaint):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=complaint) as error:
        read_corpus(str(tmp_path / place))
    assert "EVOLAKE_PROMPTS__CORPUS" in str(error.value) or "fix the file" in str(error.value)


def test_a_document_that_is_no_text_is_told(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus(str(tmp_path))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"tools": ["python"], "policy": "endpoint"}, "a policy behind an endpoint cannot use tools"),
        ({"tools": ["search"]}, "has no corpus"),
        ({"tools": ["search"], "corpus": "/nosuch"}, "there is no corpus"),
        ({"tools": ["python"], "corpus": "/nosuch"}, "no tool searches it"),
    ],
)
def test_tools_that_the_policy_cannot_have_are_refused(given, complaint):
    with pytest.raises(InputError, match=complaint):
        check_tools(PromptsSettings(**given))
