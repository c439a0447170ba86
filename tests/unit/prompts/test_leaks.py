"""Held-out problems that are training problems in another spelling are found; problems of one template are
not taken for them."""

import pytest

from evolake.prompts.model.leaks import find_leaks, normal_words
from evolake.prompts.model.protocol import Problem

TEXT = (
    "A baker in Turin sells {0} loaves each morning and {1} more each evening; how many loaves does the "
    "baker sell in a week?"
)
TRAIN = [TEXT.format(n, n + 7) for n in range(40, 80)]
HONEST = [TEXT.format(n, n + 7) for n in range(140, 170)]


def problems(texts: list[str]) -> list[Problem]:
    return [Problem(text, text, "1", False, "c", 1, "train", "test", text) for text in texts]


def leaked(text: str, train: list[str] = TRAIN) -> list[str]:
    found = find_leaks(problems(train), problems([text]), words=13, share=0.5)
    return [other.text for _, other, _ in found.leaked]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.upper() + "  !",
        lambda text: "\u200b".join(text),
        lambda text: text.replace("e", "е").replace("o", "о"),
        lambda text: text.replace("50", "٥٠"),
        lambda text: text.replace("50", "fifty"),
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace("loaves", "fresh loaves").replace("the baker", "the very busy baker"),
        lambda text: text.replace("each ", ""),
        lambda text: text.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"}),
    ],
)
def test_another_spelling_of_a_training_problem_is_found(change):
    assert leaked(change(TEXT.format(50, 57))) == [TEXT.format(50, 57)]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.format(50, 58),
        TEXT.format(500, 57),
        TEXT.format(500, 57).replace("Turin", "Milan"),
        "A farmer keeps 50 hens and 57 ducks; how many legs do they have?",
    ],
)
def test_other_numbers_and_names_are_another_problem(text):
    assert leaked(text) == []


def test_the_same_numbers_under_another_name_are_found_by_their_sequences():
    assert leaked(TEXT.format(50, 57).replace("Turin", "Milan")) == [TEXT.format(50, 57)]


def test_thirty_honest_problems_of_one_template_are_a_note():
    found = find_leaks(problems(TRAIN), problems(HONEST), words=13, share=0.5)
    assert (found.leaked, found.same_template, found.part) == (
        (),
        30,
        0.0,
    ) and "30 are of the same template" in found.sentence()


def test_a_long_passage_with_one_word_changed_is_found_and_operators_count():
    passage = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60))
    assert leaked(passage.replace("wordea", "other"), [passage, *TRAIN]) == [passage]
    assert leaked("How much is 3-1?", ["How much is 3+1?"]) == [] and leaked(
        "How much is 3 + 1", ["How much is 3+1?"]
    ) == ["How much is 3+1?"]


def test_a_greek_or_cyrillic_word_stays_what_it_is():
    assert (
        normal_words("сколько") == ["сколько"]
        and normal_words("sаme") == ["same"]
        and normal_words("三 apples, 1,234") == ["3", "apples", "1234"]
    )
