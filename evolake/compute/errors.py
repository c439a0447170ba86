"""What can go wrong with the workers themselves.

MachineryError
├── ComputeUnavailable          nothing was computed: no worker, or none that has proved itself
└── WorkersLost                 a task was tried on worker after worker, and all died; a BrokenExecutor too, as a pool of processes raises
"""  # noqa: E501

from __future__ import annotations

from concurrent.futures import BrokenExecutor

from evolake.errors import MachineryError


class ComputeUnavailable(MachineryError):
    """The compute that the settings name cannot be used. Reported before any work."""


class WorkersLost(MachineryError, BrokenExecutor):
    """Workers died under a task more often than it is retried."""
