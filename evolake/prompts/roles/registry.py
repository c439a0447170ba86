"""The roles of the prompts line: what is asked, what comes back, the classical answer, the prompt file (evolake/agents/prompts/<name>.md).

    prompts_summarizer    what one rollout did and where it went wrong            mutation, step 1
    prompts_critic        what sets the successes on a problem apart              mutation, step 2
    prompts_editor        at most two edits for that problem (add, modify)        mutation, step 3
    prompts_consolidator  the edits of all problems as one plan (modify, merge)   mutation, step 4
    prompts_recombiner    edits of the best prompt by what others do better       crossover
"""

from __future__ import annotations

from typing import Any

from evolake.agents.roles import Role, hide
from evolake.prompts.roles import models
from evolake.prompts.roles.crossing import recombine
from evolake.prompts.roles.editing import consolidate, edit_locally
from evolake.prompts.roles.reflection import criticise, summarise

SUMMARIZER = Role("prompts_summarizer", models.SummaryRequest, models.SummaryReply, summarise)
CRITIC = Role("prompts_critic", models.CritiqueRequest, models.CritiqueReply, criticise, values=hide("library"))
EDITOR = Role("prompts_editor", models.LocalRequest, models.LocalReply, edit_locally, values=hide("library"))
CONSOLIDATOR = Role("prompts_consolidator", models.GlobalRequest, models.GlobalReply, consolidate, values=hide("library"))
RECOMBINER = Role("prompts_recombiner", models.CrossRequest, models.CrossReply, recombine, values=hide("library"))
ROLES: tuple[Role[Any, Any], ...] = (SUMMARIZER, CRITIC, EDITOR, CONSOLIDATOR, RECOMBINER)
