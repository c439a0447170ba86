"""Five sorting programs judged by four criteria, as the two files that `evolake consensus rank` reads. The figures are made up.

A criterion that is the opposite of the others is an outlier; one that repeats another is an echo. See what each of them weighs.
"""

import json
from pathlib import Path

import polars as pl

SCORES = {  # lower is better
    "seconds": {"merge": 1.0, "quick": 0.8, "heap": 1.3, "insertion": 9.0, "bubble": 14.0},
    "comparisons": {"merge": 1.1, "quick": 1.4, "heap": 2.0, "insertion": 25.0, "bubble": 50.0},
    "worst_case": {"merge": 1.0, "quick": 40.0, "heap": 1.6, "insertion": 40.0, "bubble": 40.0},
    "source_lines": {"merge": 20.0, "quick": 15.0, "heap": 25.0, "insertion": 6.0, "bubble": 5.0},
}
CREATED = {"seconds": 1, "comparisons": 2, "worst_case": 3, "source_lines": 4}  # the round in which each was written: older ones weigh less

if __name__ == "__main__":
    rows = [(objective, design, score) for objective, scores in SCORES.items() for design, score in scores.items()]
    pl.DataFrame(rows, schema=["objective_id", "design_id", "score"], orient="row").write_parquet("scores.parquet")
    Path("created.json").write_text(json.dumps(CREATED))
