"""What `evolake families check` says of single votes and blind reviews."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from evolake.families.commands.checking import Checked, voter_sentences
from evolake.families.commands.group import tell
from evolake.families.gates.consensus import vote
from evolake.families.independence import independence_of
from evolake.families.sandbox.running import Solved


def solved(answer: Any) -> Solved:
    return (
        Solved("timeout", "late", None, "", None, 0.0)
        if answer is None
        else Solved("ok", "", answer, "integer", 1, 0.0)
    )


def votes(*answers: dict[str, Any]) -> tuple[Any, ...]:
    made = ({name: solved(answer) for name, answer in item.items()} for item in answers)
    return tuple(
        vote(item, case_sensitive=False, difficulty=number + 1, seed=7) for number, item in enumerate(made)
    )


def told(result: Any, **evidence: Any) -> Checked:
    seen: Any = SimpleNamespace(**vars(result), accepted=True, evidence=evidence)
    return Checked(seen, independence_of((), (), (), ()))


def judged(*answers: dict[str, Any]) -> Any:
    voters = dict.fromkeys(answers[0], "")
    return SimpleNamespace(
        sample_votes=votes(*answers),
        reviews=(),
        blocked_by=None,
        family_id="f" * 64,
        family=SimpleNamespace(name="fam", voters=lambda: voters, reader="", checkers={}),
    )


def review_by(reviewer: str) -> Any:
    return SimpleNamespace(reviewer=reviewer, matched=True)


def test_the_verdict_does_not_vouch_for_a_text_that_only_its_author_has_read(capsys):
    result = judged({"primary": 3, "a": 3})
    by_programs = [review_by("reader, primary")] * 5
    tell(told(SimpleNamespace(**vars(result) | {"reviews": by_programs})))
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith(
        "from the text alone its own reader and programs found the label of 5 of 5 instances; nobody else "
        "has read the text"
    )
    assert "share their author's reading" in said[2] and "blind" not in said[0]
    by_model = [review_by("model")] * 5
    checked = told(SimpleNamespace(**vars(result) | {"reviews": by_model}))
    rows = [{"reviewer": "model", "matched": True}] * 5
    tell(replace(checked, independence=independence_of((), (), rows, ())))
    assert (
        capsys.readouterr()
        .out.splitlines()[0]
        .endswith("from the text alone a model found the label of 5 of 5 instances")
    )


def test_everything_that_evidence_names_is_told_once_and_changes_the_verdict():
    plain = judged({"primary": 3, "a": 3})
    clean = told(plain, sentences={"has_reader": True, "unread": [], "loose": []}, consensus={"alike": []})
    assert (clean.verdict, clean.remarks) == ("accepted", [])
    named = told(
        plain,
        consensus={"alike": [["b", "a", 0.8]]},
        static={"answers": [[5, "1", False]] * 3 + [[5, "2", False]]},
        sentences={
            "has_reader": True,
            "unread": ["No one is late."],
            "loose": ["Three *big* boats sail.", "Three big *boats* sail.", "No *one* is late."],
            "unsaid": [3],
            "idle": [[1, "It costs # coins."]],
        },
    )
    assert named.verdict == "accepted with remarks"
    assert named.remarks == [
        "the validators b and a are 80% alike: their votes may be one",
        "one answer holds in 75% of the instances at difficulty 5 and above",
        "no program reads the sentence 'No one is late.'",
        "no program reads the words big, boats in 'Three big boats sail.'",
        "all programs decide by the number 3, and the text does not say it",
        "a number can be another and no answer changes: 'It costs # coins.'",
    ]
    unread = told(plain, sentences={"has_reader": False, "unread": ["x"]}).remarks
    assert unread == ["nothing reads the text: each of its sentences could say another thing"]


def test_only_who_loses_a_decided_vote_is_outvoted_and_who_gives_no_answer_is_told_apart():
    result = judged(
        {"primary": 3, "a": 3, "b": 4}, {"primary": 5, "a": None, "b": 5}, {"primary": 1, "a": 2, "b": 3}
    )
    assert voter_sentences(result) == [
        "the validator a gives no answer on 1 of 3 instances; at difficulty 2: timeout",
        "the validator b is outvoted on 1 of 3 instances; at difficulty 1: it answers 4, the majority 3",
    ]
    checked = judged({"primary": 3, "a": 3, "b": 4})
    checked.family.checkers["b"] = ""
    assert voter_sentences(checked)[0].startswith("the checker b is outvoted on 1 of 1 instance")
    assert voter_sentences(judged({"primary": "x", "a": "y", "b": "y"})) == [
        "the primary validator is outvoted on 1 of 1 instance; at difficulty 1: it answers x, the majority y"
    ]


def test_an_accepted_family_whose_voters_differ_does_not_read_as_if_they_agreed(capsys):
    tell(told(judged({"primary": 3, "a": 3, "b": 4})))
    tell(told(judged({"primary": 3, "a": 3})))
    first, second = capsys.readouterr().out.split("fam: ")[1:]
    assert first.startswith("accepted with remarks; its 3 programs are not always of one mind; ")
    assert "validator b is outvoted" in first
    assert second.startswith("accepted; its 2 programs agree; ") and "outvoted" not in second


def test_what_the_text_solver_made_of_a_family_is_told_in_one_line():
    plain = judged({"primary": 3, "a": 3})
    reading = {"asked": 40, "read": 40, "unread": "", "differ": 0, "wrong": []}
    said = [
        told(plain, blind={"text": reading | changed}).summary
        for changed in ({}, {"read": 38, "differ": 2}, {"read": 0, "unread": "Rain\nfalls."})
    ]
    assert said == [
        "text solver: 40 of 40 questions read, it agrees with the programs",
        "text solver: 38 of 40 questions read, 2 of them differ",
        "text solver: unread, as it does not know 'Rain falls.'",
    ]
    assert told(plain).summary == ""
