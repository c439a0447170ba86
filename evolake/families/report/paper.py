"""Figures that the SSLogic paper reports, to be shown next to ours: of another pipeline, on other seeds, with
language models throughout."""

from __future__ import annotations

GATE_RATES = {"quality": 0.67, "consensus": 0.93, "blind": 0.55}
"""Table 5, panel A, of 100 traces: static QA by an agent; consensus; blind review. The paper divides each by
all 100."""
OVERALL = 0.55
RUNTIME_RATIO = 6.5
"""Table 5, panel B: mean runtime and mean cost of rejected traces over those of accepted ones."""
USD_EACH = 1.18
FAMILIES, INSTANCES = (400, 953), (5_718, 21_389)
"""Section 1: before and after two rounds."""
CATEGORIES = {
    "logical": 135,
    "spatial": 85,
    "symbolic": 72,
    "temporal": 38,
    "relational": 9,
    "commonsense": 7,
    "causal": 3,
    "other": 48,
}
"""Table 13: types of the seed tasks."""
COMPLEXITY = {
    "seed": {
        "loc": 136.1,
        "cyclomatic": 27.96,
        "cognitive": 49.41,
        "halstead_volume": 5249.9,
        "halstead_effort": 174348.7,
        "loop_depth": 2.07,
        "loops": 10.33,
    },
    "DeepSeek": {
        "loc": 191.8,
        "cyclomatic": 79.77,
        "cognitive": 147.32,
        "halstead_volume": 7734.8,
        "halstead_effort": 597193.1,
        "loop_depth": 2.42,
        "loops": 22.15,
    },
    "o4-mini": {
        "loc": 121.6,
        "cyclomatic": 57.04,
        "cognitive": 91.83,
        "halstead_volume": 5274.6,
        "halstead_effort": 341555.1,
        "loop_depth": 2.35,
        "loops": 19.91,
    },
    "GLM": {
        "loc": 203.3,
        "cyclomatic": 93.67,
        "cognitive": 165.12,
        "halstead_volume": 8802.7,
        "halstead_effort": 670114.5,
        "loop_depth": 2.65,
        "loops": 27.61,
    },
}
"""Table 17: means over up to 100 tasks; "seed", then what each model evolved. Its Halstead counts come from a
walk over every node of the tree, ours from radon, which counts the operators of expressions: compare ratios
to the seeds, not levels."""
BLIND_PASSES = {0: 11, 1: 2, 2: 2, 3: 12, 4: 11, 5: 32}
"""Table 9: blind reviews that matched, of five, over 70 tasks."""
AUDIT = {"families": 100, "usable": 85, "fully_correct": 78}
"""Section L."""
