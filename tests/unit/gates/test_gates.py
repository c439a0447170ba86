"""Gates run in order and stop at the first block; rules are files with a pinned meaning."""

import pytest

from evolake.errors import InputError, JailUnavailable
from evolake.gates import Finding, GateSpec, Ruleset, checker, load_rules, passed_gates, run_gates
from evolake.gates.rules import parse_rule


@checker("test.at_most")
def at_most(evidence, *, limit: int) -> Finding | None:
    return Finding(f"{evidence['value']} is above {limit}") if evidence["value"] > limit else None


def rule_text(name: str, gate: str, limit: int, version: int = 1, prose: str = "Why.") -> str:
    return (
        f"---\nid: {name}\nversion: {version}\nkind: static\ngate: {gate}\ncheck: test.at_most\n"
        f'parameters: {{"limit": {limit}}}\n---\n{prose}\n'
    )


def ruleset(*texts: str) -> Ruleset:
    return Ruleset("toy", tuple(parse_rule(text, f"{number}.md") for number, text in enumerate(texts)))


GATES = (
    GateSpec(1, "small", lambda candidate: {"value": candidate}),
    GateSpec(0, "tiny", lambda candidate: {"value": candidate}),
)


def run(candidate: int, rules: Ruleset):
    return run_gates(candidate, GATES, rules, artifact_id="a", cycle="0001", run_id="r")


def test_gates_run_by_number_and_stop_at_the_first_block():
    rules = ruleset(rule_text("one", "tiny", 5), rule_text("two", "small", 3))
    assert [(v.gate, v.outcome, v.reason) for v in run(9, rules).verdicts] == [
        ("tiny", "block", "9 is above 5")
    ]
    assert [(v.gate, v.outcome) for v in run(4, rules).verdicts] == [("tiny", "pass"), ("small", "block")]
    assert [(v.gate, v.outcome) for v in run(2, rules).verdicts] == [("tiny", "pass"), ("small", "pass")]


def test_a_candidate_passes_only_with_a_pass_from_every_gate():
    rules = ruleset(rule_text("one", "tiny", 5), rule_text("two", "small", 3))
    assert run(2, rules).accepted
    assert not run(4, rules).accepted and run(4, rules).blocked_by == run(4, rules).verdicts[-1]
    rows = [verdict.row() for verdict in run(2, rules).verdicts]
    assert passed_gates(rows, ["tiny", "small"]) == {"a"}
    assert (
        passed_gates(rows[:1], ["tiny", "small"])
        == passed_gates([verdict.row() for verdict in run(4, rules).verdicts], ["small"])
        == set()
    )


def test_verdicts_name_the_evidence_that_is_kept_also_why_there_is_none():
    def raising(candidate):
        raise ValueError("no such thing")

    kept: list[dict] = []

    def keep(evidence) -> str:
        kept.append(dict(evidence))
        return f"sha-{len(kept)}"

    gates = [GATES[1], GateSpec(1, "small", raising)]
    rules = ruleset(rule_text("one", "tiny", 5), rule_text("two", "small", 3))
    done = run_gates(2, gates, rules, artifact_id="a", cycle="0001", run_id="r", store=keep)
    assert [(verdict.outcome, verdict.evidence_sha) for verdict in done.verdicts] == [
        ("pass", "sha-1"),
        ("block", "sha-2"),
    ]
    assert [result.evidence_sha for result in done.results] == ["sha-1", "sha-2"]
    assert (
        kept[0] == {"value": 2}
        and kept[1] == done.evidence["small"]
        and "ValueError" in done.verdicts[-1].reason
    )


def test_a_gate_without_a_rule_is_refused():
    with pytest.raises(ValueError, match="gate 'small'"):
        run(2, ruleset(rule_text("one", "tiny", 5)))


def test_a_failure_of_our_machinery_is_not_a_verdict():
    def broken(candidate):
        raise JailUnavailable("the jail is dead")

    with pytest.raises(JailUnavailable, match="the jail is dead"):
        run_gates(
            1,
            [GateSpec(0, "tiny", broken)],
            ruleset(rule_text("one", "tiny", 5)),
            artifact_id="a",
            cycle="0001",
            run_id="r",
        )


def test_the_ruleset_hash_changes_with_meaning_and_not_with_prose():
    base = ruleset(rule_text("one", "tiny", 5)).hash
    assert ruleset(rule_text("one", "tiny", 5, prose="Other words.")).hash == base
    taught = ruleset(
        rule_text("one", "tiny", 5).replace("parameters:", "lesson: Stay small.\nparameters:"),
        rule_text("two", "small", 5),
    )
    assert taught.lessons == {"one": "Stay small."}
    assert ruleset(rule_text("one", "tiny", 5), rule_text("two", "small", 5)).hash == taught.hash
    assert ruleset(rule_text("one", "tiny", 6)).hash != base
    assert ruleset(rule_text("one", "tiny", 5, version=2)).hash != base


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no front matter", "no front matter"),
        ("---\nid: a\n---\n", "lacks check, gate, kind, version"),
        ("---\nid: a\ncolour: red\n---\n", "unknown field 'colour: red'"),
        ("---\nid: a\nversion: x\nkind: static\ngate: g\ncheck: c\n---\n", "version"),
        ("---\nid: a\nversion: 1\nkind: odd\ngate: g\ncheck: c\n---\n", "kind"),
        ("---\nid: a\nversion: 1\nkind: static\ngate: g\ncheck: c\nparameters: {\n---\n", "not JSON"),
        ("---\nid: a\nversion: 1\nkind: static\ngate: g\ncheck: c\nparameters: [1]\n---\n", "a JSON object"),
    ],
)
def test_a_bad_rule_file_is_named_with_its_fault(text, message):
    with pytest.raises(InputError, match="x.md") as caught:
        parse_rule(text, "x.md")
    assert message in str(caught.value)


def test_rules_come_from_the_folder_of_their_line(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "b.md").write_text(rule_text("two", "small", 3))
    (tmp_path / "toy" / "a.md").write_text(rule_text("one", "tiny", 5))
    assert [rule.id for rule in load_rules(tmp_path, "toy").rules] == ["one", "two"]
    with pytest.raises(InputError, match="no rules for the line 'other'"):
        load_rules(tmp_path, "other")
    (tmp_path / "toy" / "c.md").write_text(rule_text("one", "tiny", 7))
    with pytest.raises(InputError, match="'one' is in two files"):
        load_rules(tmp_path, "toy")


def test_an_unknown_checker_or_parameter_is_an_input_error():
    text = rule_text("one", "tiny", 5)
    with pytest.raises(InputError, match="no checker is called 'test.none'"):
        run_gates(
            1,
            [GATES[1]],
            ruleset(text.replace("test.at_most", "test.none")),
            artifact_id="a",
            cycle="0001",
            run_id="r",
        )
    with pytest.raises(InputError, match="does not take these parameters"):
        run_gates(
            1, [GATES[1]], ruleset(text.replace("limit", "bound")), artifact_id="a", cycle="0001", run_id="r"
        )


GUIDANCE = "---\nid: goal\nversion: 1\nkind: guidance\n---\nSolve more, prove all.\n"


def test_guidance_is_told_and_listed_but_judges_nothing(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "goal.md").write_text(GUIDANCE)
    (tmp_path / "toy" / "one.md").write_text(rule_text("one", "tiny", 5))
    rules = load_rules(tmp_path, "toy")
    assert [(rule.id, rule.text) for rule in rules.guidance] == [("goal", "Solve more, prove all.")]
    assert [row["rule_id"] for row in rules.rows()] == ["goal", "one"]
    assert rules.hash == ruleset(rule_text("one", "tiny", 5)).hash


def test_a_joined_rule_replaces_the_one_of_its_id():
    old = ruleset(rule_text("b", "tiny", 5), rule_text("a", "tiny", 1))
    joined = old.joined(ruleset(rule_text("b", "tiny", 2, version=2)).rules)
    assert [(rule.id, rule.version, rule.parameters) for rule in joined.rules] == [
        ("a", 1, {"limit": 1}),
        ("b", 2, {"limit": 2}),
    ]


def test_guidance_with_a_check_is_refused():
    with pytest.raises(InputError, match="guidance judges nothing"):
        parse_rule(GUIDANCE.replace("kind: guidance", "kind: guidance\ncheck: test.at_most"), "goal.md")
