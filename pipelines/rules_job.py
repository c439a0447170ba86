"""The jobs `preview_rules`, what the rule files as they are now would change, in Markdown in the run's page,
and `apply_rules`, which shows the same and then makes it again.

(Annotations are not postponed in this file: Dagster reads an op's context and resources from its signature.)
"""

import os
import subprocess
from pathlib import Path

import dagster as dg

from assets.rules import LOADED
from assets.shown import markdown, note
from evolake import project
from pipelines.executor import living_executor
from resources.lake import LakeResource


class PreviewConfig(dg.Config):
    """line: one line; "" for all that have rules and a cycle. rules: a folder laid out as
    data_lake/seeds/rules; "" for that of the settings."""

    line: str = ""
    rules: str = ""


@dg.op(
    out=dg.Out(dagster_type=dg.Nothing),
    description="Replays the rule files on stored evidence: flips, champions, what to make again, its cost.",
)
def replay_rules(context: dg.OpExecutionContext, lake: LakeResource, config: PreviewConfig) -> None:
    """Run the one op of the job. One Markdown entry per line.

    Raises:
        InputError: no such line or folder, or a rule that cannot be used. LakeError: what is stored is
            damaged.
    """
    folder = Path(config.rules) if config.rules else lake.settings().seeds / "rules"
    _show(context, lake, folder, config.line)


def _show(context: dg.OpExecutionContext, lake: LakeResource, folder: Path, line: str) -> list[str]:
    """Show the preview of the line, or of all; gives their names."""
    from evolake.report.status import ruled_lines
    from pipelines.rules_preview import previews

    names = ruled_lines(lake.open(), folder, line or None)
    result = previews(lake.open(), folder, names, context.instance)
    for item in result:
        for text in item.lines():
            note(context, text)
    context.add_output_metadata({element.preview.line: markdown(element.markdown()) for element in result})
    return names


@dg.job(
    executor_def=living_executor,
    description=(
        "What edited rules would change, and what that would cost: see `evolake rules preview`. Publishes "
        "nothing."
    ),
)
def preview_rules() -> None:
    """See the module docstring."""
    replay_rules()


class ApplyConfig(dg.Config):
    """line: one line; "" for all that have rules and a cycle."""

    line: str = ""


@dg.op(
    out=dg.Out(dagster_type=dg.Nothing),
    description="Makes again what the rule files ask for, in runs of their own, cycle by cycle.",
)
def make_again(context: dg.OpExecutionContext, lake: LakeResource, config: ApplyConfig) -> None:
    """Run the one op of the job: in a process of its own, which reads the rules as they are now.

    Raises:
        dg.Failure: it was not done; what it said is in the run's log. Else as `replay_rules`.
    """
    names = _show(context, lake, lake.settings().seeds / "rules", config.line)
    command = [*project.command("pipelines.rules_apply"), *names]
    environment = {name: value for name, value in os.environ.items() if name != LOADED}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as child:
        for text in child.stdout or ():
            note(context, text.rstrip())
    if child.returncode:
        raise dg.Failure("the rules are not applied; launch the job again to continue", allow_retries=False)


@dg.job(
    executor_def=living_executor,
    description=(
        "Applies edited rules to every stored candidate, until nothing is stale: see `evolake rules apply`. "
        "Killed or failed, it continues when it is launched again."
    ),
)
def apply_rules() -> None:
    """See the module docstring."""
    make_again()
