"""Put tests/ on the path, for material that tests and these programs share. Import this module first."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
