"""`python -m pipelines.dev ARGUMENTS`: `dagster dev ARGUMENTS`, which SIGTERM ends wherever it was started,
and next to it the Data Docs (`pipelines.data_docs`).

Dagster gives SIGTERM the handler that SIGINT has. A script that starts something in the background (`nohup
make dev &`) starts it with SIGINT ignored, and children inherit that: all of Dagster's processes would ignore
both signals.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from evolake import project


def main(arguments: list[str]) -> None:
    """Become `dagster dev`, of the same environment, with the signals as a terminal gives them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    subprocess.Popen(project.command("pipelines.data_docs"), stdout=subprocess.DEVNULL)  # ends with this one
    program = str(Path(sys.executable).with_name("dagster"))
    os.execv(program, [program, "dev", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
