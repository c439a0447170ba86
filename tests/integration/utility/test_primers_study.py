"""A study over the primers: drawn from what the model as it is answers right now and then, and asking nothing
that this was measured on."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_policy import tiny_policy
from utility_lake import SIZES, child, families_lake

from evolake.errors import InputError
from evolake.families.model.family_files import read_families
from evolake.prompts.model.protocol import Problem, Sample
from evolake.prompts.model.recipes import SSLOGIC
from evolake.settings import Settings, load
from evolake.utility.cells import Pause
from evolake.utility.drawing import draw_problems, inputs_sha
from evolake.utility.pass_rates import AT_ONCE
from evolake.utility.running import run_study
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import LINEAGES, TRAIN

PRIMERS = read_families(Path(__file__).parents[3] / "examples" / "families" / "primers")


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Settings:
    lake = families_lake(
        tmp_path_factory.mktemp("primers") / "lake",
        [*PRIMERS, *(child(primer, "switch", primer) for primer in PRIMERS)],
    )
    return load("laptop", lake=lake.root, workers=1)


@pytest.fixture(autouse=True)
def nothing_noted(settings) -> None:
    """The policies of these tests are no part of the settings that tell one journal from another."""
    shutil.rmtree(settings.require_lake() / "work", ignore_errors=True)


def sized(settings: Settings, **given: Any) -> Settings:
    sizes = {
        "instances_per_arm": 10,
        "test_problems": 6,
        "pass_rate_instances": 2,
        "pass_rate_samples": 2,
        **given,
    }
    return settings.with_section(SIZES.model_copy(update=sizes))


class Knowing:
    """Answers the problems that `knows` picks, every other time right, and no other."""

    name, learns = "knowing", False

    def __init__(self, knows: Callable[[str], bool]):
        self.knows, self.asked = knows, set[str]()

    def sample(
        self, pairs: Sequence[tuple[Any, Problem]], n: int, seed: int, *, greedy: bool = False
    ) -> list[list[Sample]]:
        self.asked |= {problem.text for _, problem in pairs}
        right = [
            str(json.loads(problem.answer)) if self.knows(problem.text) else "neither" for _, problem in pairs
        ]
        return [
            [Sample(answer if number % 2 else "neither", 1, False) for number in range(n)] for answer in right
        ]


def lake_of(settings: Settings) -> Any:
    from evolake.lake import Lake

    return Lake(settings.require_lake())


def test_only_what_is_answered_right_now_and_then_is_kept_and_nothing_that_was_measured_is_asked(settings):
    policy: Any = Knowing(lambda text: "lamp" not in text and "cards" not in text)
    drawn = draw_problems(sized(settings, pass_rates=(0.1, 0.9)), lake_of(settings), policy)
    assert {row["suite"] for row in drawn.rows} == {TRAIN, LINEAGES}
    assert {(row["pass_rate"], row["difficulty"] <= 3) for row in drawn.rows} == {(0.5, True)}
    assert not any("lamp" in row["text"] or "cards" in row["text"] for row in drawn.rows)
    assert not {row["text"] for row in drawn.rows} & policy.asked
    assert any(
        "answers between 10% and 90% of 2 other instances right, 2 replies each" in note
        for note in drawn.notes
    )


def test_where_the_model_knows_nothing_there_is_no_study(settings):
    with pytest.raises(InputError, match="there is no problem for") as raised:
        draw_problems(sized(settings, pass_rates=(0.1, 0.9)), lake_of(settings), Knowing(lambda text: False))  # type: ignore[arg-type]
    assert "EVOLAKE_UTILITY__PASS_RATES" in str(raised.value.do)


def test_rates_of_weights_that_learn_are_those_of_the_weights_as_they_are(settings):
    """Random weights get nothing right; between 0 and 1 all is kept, and each problem says so."""
    drawn = draw_problems(sized(settings, pass_rates=(0.0, 1.0)), lake_of(settings), tiny_policy(SSLOGIC))
    assert {row["pass_rate"] for row in drawn.rows} == {0.0} and len(
        {row["family_id"] for row in drawn.rows}
    ) > 6


def test_pass_rates_are_part_of_what_problems_are_drawn_from_only_where_they_are_asked_for(settings):
    plain, other = sized(settings), sized(settings, pass_rate_samples=3)
    assert inputs_sha(plain, lake_of(settings)) == inputs_sha(other, lake_of(settings))
    asked, more = (
        sized(settings, pass_rates=(0.1, 0.9)),
        sized(settings, pass_rates=(0.1, 0.9), pass_rate_samples=3),
    )
    assert len({inputs_sha(item, lake_of(settings)) for item in (plain, asked, more)}) == 3


def test_measuring_that_was_cut_off_goes_on_and_asks_nothing_again(settings):
    def cut_off(done: int, of: int) -> None:
        assert done < of
        raise Pause

    own, lake = sized(settings, pass_rates=(0.0, 1.0), pass_rate_instances=3), lake_of(settings)
    whole: Any = Knowing(lambda text: "lamp" in text)
    unbroken = draw_problems(own, lake, whole).rows
    shutil.rmtree(lake.root / "work")
    first, second = Knowing(lambda text: "lamp" in text), Knowing(lambda text: "lamp" in text)
    with pytest.raises(Pause):
        draw_problems(own, lake, first, cut_off)  # type: ignore[arg-type]
    assert draw_problems(own, lake, second).rows == unbroken  # type: ignore[arg-type]
    wider = draw_problems(
        sized(settings, pass_rates=(0.0, 0.5), pass_rate_instances=3),
        lake,
        Knowing(lambda text: "no" in text),
    )  # type: ignore[arg-type]
    assert {row["pass_rate"] for row in wider.rows} == {0.0, 0.5}
    assert (
        len(first.asked) == AT_ONCE
        and not first.asked & second.asked
        and first.asked | second.asked == whole.asked
    )


def test_minutes_that_are_over_while_pass_rates_are_measured_end_the_run_before_there_is_a_study(settings):
    own, said = (
        sized(settings, pass_rates=(0.0, 1.0), pass_rate_instances=3, pass_rate_samples=4),
        list[str](),
    )
    policy: Any = Knowing(lambda text: True)
    stopped = run_study(own, ["base"], [0], "run", minutes=1e-9, tell=said.append, policy=policy)
    assert stopped.study is None and stopped.left == ("base-0",) and len(policy.asked) == AT_ONCE
    assert len(said) == 1 and said[0].startswith(f"pass rates: {AT_ONCE} of ")


def test_shares_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="the lower one first"):
        UtilitySettings(pass_rates=(0.6, 0.1))
