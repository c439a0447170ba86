"""A solver's output is read by the letter."""

import pytest

from evolake.solvers.execute import read_answer, read_counters, without_model


@pytest.mark.parametrize(
    ("stdout", "answer", "model"),
    [
        (b"s SATISFIABLE\nv 1 -2 3 0\n", "sat", [1, -2, 3]),
        (b"c hello\nv 1 -2\nc between\nv 3\nv 0\ns SATISFIABLE\n", "sat", [1, -2, 3]),
        (b"s SATISFIABLE\r\nv 1 0\r\n", "sat", [1]),
        (b"s SATISFIABLE\nv 0\n", "sat", []),
        (b"  noise\ns UNSATISFIABLE\nbye\n", "unsat", None),
        (b"s UNKNOWN\n", "unknown", None),
        (b"s INDETERMINATE\n", "unknown", None),
        (b"", None, None),
        (b"SATISFIABLE\nsolved s SATISFIABLE\nstats: v 1 0\n", None, None),
    ],
)
def test_well_formed_output(stdout, answer, model):
    reading = read_answer(stdout)
    assert (reading.answer, None if reading.model is None else reading.model.tolist(), reading.problems) == (
        answer,
        model,
        (),
    )


@pytest.mark.parametrize(
    ("stdout", "answer", "part"),
    [
        (b"s SATISFIABLE\nv 1 0\ns UNSATISFIABLE\n", None, "two answers: 'SATISFIABLE', 'UNSATISFIABLE'"),
        (b"s UNSATISFIABLE\ns UNSATISFIABLE\n", None, "two answers"),
        (b"s satisfiable\n", None, "status line that is none: 'satisfiable'"),
        (b"s SATISFIABLE maybe\nv 1 0\n", None, "status line that is none"),
        (b"s\n", None, "status line that is none: ''"),
        (b"s SATISFIABLE\n", "sat", "no model"),
        (b"s SATISFIABLE\nv 1 2\n", "sat", "without its final 0"),
        (b"s SATISFIABLE\nv\n", "sat", "without its final 0"),
        (b"s SATISFIABLE\nv 1 0 2 0\n", "sat", "with a 0 in it"),
        (b"s SATISFIABLE\nv 1 x 0\n", "sat", "no literal"),
        (b"s SATISFIABLE\nv 1 -0 0\n", "sat", "no literal"),
        (b"s SATISFIABLE\nv 1 -1 0\n", "sat", "both values"),
        (b"s SATISFIABLE\nv 4294967297 0\n", "sat", "too large"),
        (b"s UNSATISFIABLE\nv 1 0\n", "unsat", "without the answer SATISFIABLE"),
        (b"v 1 0\n", None, "without the answer SATISFIABLE"),
        (b"s SATISFIABLE\nv 1 0", "sat", "no end"),
        (b"s UNSATISFIABLE", "unsat", "no end"),
    ],
)
def test_each_broken_rule_is_named(stdout, answer, part):
    reading = read_answer(stdout)
    assert (reading.answer, reading.model is None or "no end" in part) == (answer, True)
    assert len(reading.problems) == 1
    assert part in reading.problems[0]


def test_the_last_match_of_a_counter_counts():
    stdout = b"c conflicts : 10 (5 /sec)\nc conflicts : 30 (6 /sec)\nc decisions: 1.5e3\nc odd: -.\n"
    patterns = {
        "conflicts": r"^c conflicts\s*:\s*(\S+)",
        "decisions": r"^c decisions\s*:\s*(\S+)",
        "odd": r"^c odd: (\S+)",
        "absent": r"^x (\d+)",
    }
    assert read_counters(stdout, patterns) == {"conflicts": 30.0, "decisions": 1500.0}


def test_the_tail_leaves_the_model_out():
    assert without_model(b"c a\ns SATISFIABLE\nv 1 2 3\nv 0\nc end\n", 12) == "IABLE\nc end\n"


@pytest.mark.parametrize("printed", ["1" + "0" * 400, "9223372036854775808", "nan", "-3", "inf"])
def test_a_count_that_no_table_holds_is_left_out(printed):
    patterns = {"conflicts": r"^c conflicts : (\S+)", "decisions": r"^c decisions : (\d+)"}
    assert read_counters(f"c conflicts : {printed}\nc decisions : 7\n".encode(), patterns) == {
        "decisions": 7.0
    }
