"""The comparison of arms as a page: what each came to, paired differences, learning curves with bands, the
prompts that came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from markupsafe import escape

from evolake.plots.arms import ArmCurve, arm_curves
from evolake.report.pages import Section, page, render

NAMES = {
    "rl": "RL only",
    "reflection": "self-reflection only",
    "evolution": "evolution only",
    "espl": "evolution with RL",
    "no-crossover": "evolution with RL, no crossover",
    "no-selection": "evolution with RL, no selection",
}
LINE = "prompts"
LEVEL = 0.05


def arms_page(comparison: Mapping[str, Any]) -> str:
    """Return the whole page. comparison: what `evolake prompts compare --json` prints."""
    figures = arms_figures(comparison)
    note = (
        f"{comparison['policy']}, recipe {comparison['recipe']}, prompts edited by "
        f"{comparison['backend']}; {comparison['source']} problems, "
    )
    note += (
        f"{comparison['train_problems']} to train on and {comparison['heldout_problems']} held out; "
        f"{comparison['iterations']} iterations an "
    )
    note += f"arm, {comparison['replicates']} times; seed {comparison['seed']}"
    lead = verdict(comparison)
    prompts = {
        f"{_name(arm)}: the prompt in the end": result["prompt"] or "(empty)"
        for arm, result in comparison["arms"].items()
    }
    body = render(
        "evolake.prompts.report",
        "arms.html.j2",
        note=note,
        headline=lead,
        arms=arms_table(comparison),
        differences=differences_table(comparison),
        figures=figures,
        prompts=prompts,
    )
    source = "summary.json and the tables next to this page (.parquet) have every figure, reply and prompt."
    return page([Section(LINE, "compare", escape(lead), body, figures)], source=source)


def verdict(summary: Mapping[str, Any]) -> str:
    """Return one sentence: which arms differ from the base by more than chance explains, that of problems
    and, with replicates, that of the runs."""
    clear = {name: item for name, item in summary["differences"].items() if shows(item)}
    chance = (
        "the draw of held-out problems"
        if summary["replicates"] == 1
        else "the draw of held-out problems and of runs"
    )
    base = next((item["base"] for item in summary["differences"].values()), None)
    if base is None:
        return "One arm alone: there is nothing to compare it with."
    if not clear:
        return f"No arm differs from {_name(base)} by more than {chance} explains."
    said = [
        f"{_name(name)} {'gains' if item['low'] > 0 else 'loses'} {abs(item['difference']):.1%}"
        for name, item in clear.items()
    ]
    warned = (
        " One seed; another may say otherwise."
        if summary["replicates"] == 1
        else f" {summary['replicates']} runs per arm."
    )
    return f"Against {_name(base)}, beyond {chance}: {', '.join(said)}.{warned}"


def shows(difference: Mapping[str, Any]) -> bool:
    """Return whether a difference is beyond chance: its interval on one side of 0 and, after Holm's
    correction over the arms, p below .05."""
    return (difference["low"] > 0 or difference["high"] < 0) and difference["p_holm"] < LEVEL


def arms_table(summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return one row per arm."""
    rows = []
    for name, arm in summary["arms"].items():
        first, last = arm["heldout"][0], arm["heldout"][-1]
        rows.append(
            {
                "arm": _name(name),
                "rollouts": arm["rollouts"],
                "updates": arm["updates"],
                "prompts": arm["prompts"],
                "correct_at_start": f"{first['correct']['share']:.1%}",
                "correct_at_the_end": _share_text(last["correct"]),
                "in_form_at_start": f"{first['formatted']['share']:.1%}",
                "in_form_at_the_end": _share_text(last["formatted"]),
            }
        )
    return pl.DataFrame(rows)


def differences_table(summary: Mapping[str, Any]) -> pl.DataFrame:
    """Return one row per arm that is not the base."""
    return pl.DataFrame(
        [
            {
                "arm": _name(name),
                "against": _name(item["base"]),
                "correct": f"{item['difference']:+.1%}",
                "interval_95": f"{item['low']:+.1%} to {item['high']:+.1%}",
                "p_holm": f"{item['p_holm']:.2g}",
                "beyond_the_draw": "yes" if shows(item) else "no",
            }
            for name, item in summary["differences"].items()
        ]
    )


def arms_figures(report: Mapping[str, Any]) -> dict[str, bytes]:
    """Return title -> PNG: held-out shares by iteration, correct and in form."""
    titles = {
        "correct": "Held-out problems solved, by iteration",
        "formatted": "Held-out replies in form, by iteration",
    }
    return {
        title: arm_curves(
            [_curve(name, arm["heldout"], what) for name, arm in report["arms"].items()],
            f"{title}, with 95% bands",
            "iteration",
            what,
        )
        for what, title in titles.items()
    }


def _curve(name: str, points: list[Mapping[str, Any]], what: str) -> ArmCurve:
    shares = [point[what] for point in points]
    return ArmCurve(
        _name(name),
        [point["iteration"] for point in points],
        [share["share"] for share in shares],
        [share["low"] for share in shares],
        [share["high"] for share in shares],
    )


def _share_text(share: Mapping[str, float]) -> str:
    return f"{share['share']:.1%} ({share['low']:.1%} to {share['high']:.1%})"


def _name(arm: str) -> str:
    return NAMES.get(arm, arm)
