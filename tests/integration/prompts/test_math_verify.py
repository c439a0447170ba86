"""math-verify decides about labels that our reader declines, in the jail, and about no others."""

import pytest

from evolake.verifiers.math_verify_scorer import compare, declined
from evolake.verifiers.own import ScoredReply, open_own_pool, read_verifier, score_own

RIGHT = [
    (r"\log_2 3", r"\log_{2} 3"),
    (r"\frac{1}{2}\ln 3", r"\frac{\ln 3}{2}"),
    (r"\ln 9", r"2\ln 3"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
    ("42", 42),
    (r"(3, \frac{\pi}{2})", r"\left( 3, \frac{\pi}{2} \right)"),
]
WRONG = [
    ("41+1", 42),
    ("41+1", "42"),
    (r"\log_3 2", r"\log_{2} 3"),
    (r"6 \text{ m}", r"6 \text{ cm}"),
    ("daA", "Ada"),
    ("(0,1)", "[0,1]"),
    ("1.0986", r"\ln 3"),
    ("", r"\ln 3"),
    (r"x > 2", r"x \geq 2"),
    ("x", r"\ln x"),
    (r"(-\infty, 2)", r"(-\infty, 2]"),
]


@pytest.mark.parametrize(("content", "label"), RIGHT)
def test_right_mathematics_counts(content, label):
    assert compare(f"So it is $\\boxed{{{content}}}$.", label, "")


@pytest.mark.parametrize(("content", "label"), WRONG)
def test_known_false_positives_do_not_count(content, label):
    assert not compare(f"\\boxed{{{content}}}", label, "")
    assert not compare(f"It is {label}.", label, ""), "an answer without a box"


def test_a_label_that_the_exact_reader_reads_is_not_math_verifys():
    assert declined(r"\log_{2} 3") and declined(r"\frac{\ln 3}{2}")
    assert not any(
        map(declined, (42, "42", "Ada", r"\frac{1}{2}", "x^2 + 1", "[0, 1]", r"6 \text{ cm}", True, None))
    )


def test_the_shipped_scorer_runs_in_the_jail():
    verifier = read_verifier("math_verify")
    asked = [
        ScoredReply(verifier, f"\\boxed{{{content}}}", label, "")
        for content, label in (RIGHT[1], WRONG[0], WRONG[6])
    ]
    with open_own_pool([verifier], len(asked)) as pool:
        scores = score_own(asked, pool=pool)
    assert [score.score for score in scores] == [1.0, 0.0, 0.0] and not any(score.failure for score in scores)
