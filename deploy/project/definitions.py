"""What Dagster loads: the lines and studies that are installed, working on the lake of this folder."""

from pathlib import Path

from evolake import project

project.enter(Path(__file__).resolve().parent)

from pipelines.definitions import defs  # noqa: E402

__all__ = ["defs"]
