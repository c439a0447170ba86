"""`evolake status` counts what passed its gates as accepted, whatever became of it afterwards."""

import json

from commands import evolake

from evolake.lake import ARTIFACTS, Lake, side_table


def test_champions_and_retired_artifacts_were_accepted_and_each_counts_once(tmp_path):
    lake = Lake(tmp_path / "lake")
    states = {
        "seeds": [("root", "champion")],
        "children": [("a", "candidate"), ("b", "candidate")],
        "survivors": [("root", "champion"), ("a", "accepted"), ("b", "blocked"), ("c", "retired")],
    }
    for asset, rows in states.items():
        frame = ARTIFACTS.frame(
            {
                "artifact_id": name * 8,
                "line": "prompts",
                "kind": "system prompt",
                "cycle": "0001",
                "state": state,
                "title": name,
                "content_sha": "0" * 64,
            }
            for name, state in rows
        )
        lake.publish(
            "prompts", side_table(asset, ARTIFACTS), frame, cycle="0001", run_id="r", schema=ARTIFACTS
        )
    lake.seals.seal("prompts", "0001", "v1", None, "r")
    done = evolake("status", "--json", environment={"EVOLAKE_LAKE": str(tmp_path / "lake")})
    [row] = json.loads(done.stdout)["lines"]
    assert (row["accepted"], row["blocked"]) == (3, 1)
