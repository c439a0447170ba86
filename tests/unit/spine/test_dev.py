"""What `make dev` becomes: `dagster dev` with the words and the environment it was given, so that cycles go
on at the profile of the lake."""

import json
import os
import subprocess
import sys

import pytest
from designs_fixtures import ROOT


@pytest.mark.parametrize(
    ("sealed_under", "asked_for", "profile"),
    [("demo", None, "demo"), (None, None, "laptop"), ("demo", "cluster", "cluster")],
)
def test_dagster_gets_the_profile_of_a_used_lake_unless_another_is_asked_for(
    tmp_path, sealed_under, asked_for, profile
):
    beside, lake = tmp_path / "bin", tmp_path / "lake"
    beside.mkdir()
    lake.mkdir()
    (beside / "python").symlink_to(sys.executable)
    asks = (
        "import json, sys; from evolake import settings; print(json.dumps([sys.argv[1:], "
        "settings.load().profile]))"
    )
    (beside / "dagster").write_text(f"#!/bin/sh\nexec {sys.executable} -c '{asks}' \"$@\"\n")
    (beside / "dagster").chmod(0o755)
    if sealed_under:
        (lake / "profile").write_text(sealed_under)
    environment = {name: value for name, value in os.environ.items() if name != "EVOLAKE_PROFILE"} | {
        "EVOLAKE_LAKE": str(lake)
    }
    environment |= {"EVOLAKE_PROFILE": asked_for} if asked_for else {}
    words = [beside / "python", "-m", "pipelines.dev", "--workspace", "workspace.yaml"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["dev", "--workspace", "workspace.yaml"], profile]
