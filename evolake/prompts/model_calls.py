"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.prompts.evolution.iteration import ARMS, window_of
from evolake.prompts.policies.endpoint import ROLE as POLICY
from evolake.prompts.reproduction import SHORT_REPLY
from evolake.prompts.roles.editing import CONSOLIDATOR, EDITOR, RECOMBINER
from evolake.prompts.roles.reflection import CRITIC, SUMMARIZER
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of one cycle: those of the editor's steps, and every sample if the policy is an
    endpoint.

    Long replies of one prompt are summarised: up to all of an iteration, if there is one prompt. Half of the
    problems probably have right and wrong replies, so that something is learnt from them.
    """
    own = settings.of(PromptsSettings)
    turns, problems, arm = own.iterations_per_cycle, own.batch_problems, ARMS[own.arm]
    edits = own.editor == "backend" and (arm.evolve or arm.reflect)
    replies = problems * own.rollouts * own.prompts_per_iteration
    held = own.heldout_problems * own.heldout_samples
    samples = turns * replies + 2 * own.duel_problems * own.duel_samples + (4 if start.first else 3) * held
    sampled = RoleCalls(
        POLICY,
        samples if own.policy == "endpoint" else 0,
        samples * 0.75,
        data=300,
        reply=own.max_tokens // 2,
        longest=own.max_tokens,
        repairs=False,
        file=False,
        always=True,
    )
    summarised = (
        turns * replies if own.tools or own.max_tokens > SHORT_REPLY else 0
    )  # a word is a token at least
    roles = [
        RoleCalls(SUMMARIZER, summarised, turns * problems * own.rollouts / 2, data=600, reply=200),
        RoleCalls(CRITIC, turns * problems, turns * problems / 2, data=800, reply=300),
        RoleCalls(EDITOR, turns * problems, turns * problems / 2, data=800, reply=200),
        RoleCalls(CONSOLIDATOR, turns, turns, data=800, reply=200),
        RoleCalls(
            RECOMBINER,
            turns if arm.evolve and arm.crossover and window_of(own) is not None else 0,
            turns * own.crossover,
            data=1200,
            reply=400,
        ),
    ]
    return asked([sampled, *(roles if edits else [])])
