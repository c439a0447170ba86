"""Print the tests that failed in the last runs of pytest and have not passed since, one per line; for
`.ci/run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEPT = Path(__file__).resolve().parents[1] / ".pytest_cache" / "v" / "cache" / "lastfailed"

if __name__ == "__main__":
    failed = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    sys.stdout.writelines(f"{name}\n" for name in sorted(failed))
