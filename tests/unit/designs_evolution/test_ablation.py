"""One term at a time is left out, and what that changes is told by kind of formulas."""

from __future__ import annotations

import math

import pytest
from designs_genomes import MAJORITY_TERM, open_search
from designs_runs import Inline

from evolake.designs.evolution import ablation
from evolake.designs.evolution.ablation import ablation_levels, ablation_rows, effects_sentence, term_effects
from evolake.designs.evolution.racing import BudgetLevel, Stage
from evolake.designs.genome.open_ablation import ablations
from evolake.designs.genome.open_expression import order, places
from evolake.designs.genome.open_genome import baseline
from evolake.designs.model.formulas import uniform_kind
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ABLATIONS

RUNGS = (
    BudgetLevel(80, 8, 1, 5000),
    BudgetLevel(80, 8, 2, 5000, uniform_kind(4.2)),
    BudgetLevel(160, 8, 3, 5000),
    BudgetLevel(160, 8, 4, 5000, uniform_kind(4.2)),
)


def test_every_term_is_left_out_once_and_nothing_else_changes() -> None:
    whole = open_search()
    result = ablations(whole)
    terms = {str(item): item.genome for item in result}
    without = terms["force: -(k1 * square(at(v)))"]
    assert MAJORITY_TERM not in [held for _, held in places(without.drive("force"))]
    assert [order(without.drive(slot)) for slot in ("v", "xs", "xl")] == [
        order(whole.drive(slot)) for slot in ("v", "xs", "xl")
    ]
    assert len({item.genome.key() for item in result} | {whole.key()}) == len(result) + 1
    (memory,) = [item for item in result if item.slot == "memory"]
    assert memory.genome.memories == () and "m1 over each clause" in memory.term
    assert len(result) >= 10


def test_effects_are_told_by_kind_with_bounds() -> None:
    whole = [Stage(100, True, 0.1), Stage(900, True, 0.1), Stage(100, True, 0.1), Stage(900, True, 0.1)]
    without = [
        Stage(200, True, 0.1),
        Stage(100, True, 0.1),
        Stage(9999, False, 0.1, 800),
        Stage(100, True, 0.1),
    ]
    effects = term_effects("force: a", RUNGS, whole, without)
    assert [(item.kind, item.ratio, item.bound) for item in effects] == [
        ("planted", pytest.approx(math.sqrt(2 * 8)), "at least"),
        ("uniform", pytest.approx(1 / 9), ""),
    ]
    assert effects_sentence(effects) == "force: a: helps planted ones at least 4x, costs uniform ones 9x"
    assert (
        effects_sentence(term_effects("t", RUNGS, whole, whole))
        == "t: makes no difference on planted ones, makes no difference on uniform ones"
    )
    costly = term_effects("t", RUNGS, whole, [Stage(50, True, 0.1), *whole[1:]])[0]
    assert str(costly) == "costs planted ones 1.4x"


def test_rows_of_a_champion_s_terms_fit_their_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(traced: str, levels: list[BudgetLevel], limits: list[int], core_s: float) -> list[Stage]:
        factor = 3 if traced == "without" and levels[0].kind.name == "planted" else 1
        return [Stage(100 * factor, True, 0.1)]

    monkeypatch.setattr(ablation, "run_stages", run)
    settings = DesignsSettings(ablation_n=40)
    levels = ablation_levels(settings, "0002", 7)
    assert [(level.kind.name, level.n, level.batch) for level in levels] == [
        ("planted", 40, settings.race.batch),
        ("uniform", 40, settings.race.batch),
    ]
    items = ablations(baseline())[:2]
    rows = ablation_rows("d", "whole", [(item, "without") for item in items], Inline(), levels, "0002", 10.0)  # pyright: ignore[reportArgumentType]
    frame = ABLATIONS.frame(rows)
    assert ABLATIONS.repeated_keys(frame).is_empty()
    assert frame["ratio"].to_list() == pytest.approx([3.0, 1.0, 3.0, 1.0])
    assert frame["effect"].to_list()[:2] == ["helps planted ones 3x", "makes no difference on uniform ones"]
    assert frame["term"].to_list()[::2] == [item.term for item in items]
