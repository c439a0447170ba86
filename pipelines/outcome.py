"""How `evolake run` ended: what was sealed, and why it stopped.

Exit codes: 0 all cycles are sealed; 1 a blocking check judged a cycle bad; 2 wrong usage or input; 3 our
machinery failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import dagster as dg

JUDGED_BAD, WRONG_INPUT, MACHINERY_FAILED = 1, 2, 3
STOPPED = "stopped; start it again to continue"
"""All that is said of what was interrupted."""


@dataclass
class Outcome:
    """What has been done, for the last line and the exit code.

    sealed: line -> its cycles that are sealed now. runs: ids of all runs that were made. exit_code, reason,
    run_id: of the first failure.
    """

    sealed: dict[str, list[str]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    exit_code: int = 0
    reason: str = ""
    run_id: str = ""

    def summary(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        verdict = {0: "sealed", JUDGED_BAD: "blocked"}.get(self.exit_code, "failed")
        return {"verdict": verdict, "cycles": self.sealed, "reason": self.reason, "run_id": self.run_id}


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcomes of several lines as one: of those that failed the gravest code, the first run and
    every reason."""
    result = list(outcomes)
    failed = [item for item in result if item.exit_code]
    sealed = {line: cycles for item in result for line, cycles in item.sealed.items()}
    reasons = "\n".join(item.reason for item in failed)
    run_id = next((item.run_id for item in failed if item.run_id), "")
    return Outcome(
        sealed,
        [run for item in result for run in item.runs],
        max((item.exit_code for item in failed), default=0),
        reasons,
        run_id,
    )


def explain(result: dg.ExecuteInProcessResult) -> tuple[int, str]:
    """Return exit code and reason of a failed run: 1 where a blocking check failed, else 2 or 3 by what was
    raised."""
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed and evaluation.blocking:
            name = f"{evaluation.check_name} of {evaluation.asset_key.to_user_string()}"
            return JUDGED_BAD, f"check {name} failed: {evaluation.description or 'see its metadata'}"
    for event in result.all_events:
        if event.is_step_failure:
            return blame(event)
    return MACHINERY_FAILED, "the run failed before its first step"


def was_interrupted(event: dg.DagsterEvent) -> bool:
    """Return whether a step failed because somebody stopped it."""
    error = event.step_failure_data.error
    return error is not None and error.cls_name in ("DagsterExecutionInterruptedError", "KeyboardInterrupt")


def blame(event: dg.DagsterEvent) -> tuple[int, str]:
    """Return exit code and reason of a step that failed."""
    if was_interrupted(event):
        return MACHINERY_FAILED, STOPPED
    failure = event.step_failure_data
    where = (event.step_key or "").replace("__", "/", 1)
    if failure.user_failure_data and failure.user_failure_data.description:
        return MACHINERY_FAILED, f"{where}: {failure.user_failure_data.description}"
    error = failure.error
    while error is not None and error.cause is not None:
        error = error.cause
    is_input = error is not None and error.cls_name == "InputError"
    return (
        WRONG_INPUT if is_input else MACHINERY_FAILED
    ), f"{where}: {error.message.strip() if error else 'no error recorded'}"
