"""Who edits the prompts: the backend of the settings, or the policy itself, as a model that needs no endpoint
(`own_editor`)."""

from __future__ import annotations

from pathlib import Path

from evolake.agents import Agents, open_agents
from evolake.errors import InputError
from evolake.prompts.model.protocol import LINE, Policy
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings


def open_editors(settings: Settings, lake_root: Path, cycle: str, run_id: str, policy: Policy) -> Agents:
    """Return the agents that edit prompts, as the setting `editor` says.

    Raises:
        InputError: as `open_agents`; or the policy is to edit and has no weights on this machine.
    """
    own = settings.of(PromptsSettings)
    if own.editor == "backend":
        return open_agents(settings, lake_root, cycle, run_id, line=LINE)
    if not hasattr(policy, "answer"):
        raise InputError(
            f"the policy {policy.name} cannot edit prompts",
            wanted="a policy with weights on this machine",
            got=f"EVOLAKE_PROMPTS__EDITOR={own.editor} with EVOLAKE_PROMPTS__POLICY={own.policy}",
            do="set EVOLAKE_PROMPTS__EDITOR=backend",
        )
    from evolake.prompts.policies.own_editor import policy_agents

    return policy_agents(settings, lake_root, cycle, run_id, policy, adapted=own.editor == "policy")
