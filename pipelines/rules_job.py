"""The job `preview_rules`: what the rule files as they are now would change, in Markdown in the run's page,
before anything is made again.

Nothing is published. (Annotations are not postponed in this file: Dagster reads an op's context and resources
from its signature.)
"""

from pathlib import Path

import dagster as dg

from assets.shown import markdown, note
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
    from evolake.report.status import ruled_lines
    from pipelines.rules_preview import previews

    folder = Path(config.rules) if config.rules else lake.settings().seeds / "rules"
    result = previews(
        lake.open(), folder, ruled_lines(lake.open(), folder, config.line or None), context.instance
    )
    for item in result:
        for line in item.lines():
            note(context, line)
    context.add_output_metadata({element.preview.line: markdown(element.markdown()) for element in result})


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
