"""evolake: evolve things whose worth can be checked.

The science of the project as an importable library. Nothing here imports the orchestrator: the Dagster wiring lives in the sibling packages
`pipelines`, `assets` and `resources`, which import this one and never the other way round.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Before torch is loaded: its idle threads sleep. Spinning ones starve each other where other work shares the cores, a hundredfold on two."""

__version__ = "0.2.0.dev0"
