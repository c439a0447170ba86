"""A scripted model for the editors of the prompts line behind a real HTTP server: it answers by role.

It is no model and shows nothing about models. It is there so that a mutation or a crossover can be run with
the backend `model`.
"""

from collections.abc import Callable
from typing import Any

from loopback_model import Action, Asked, say
from prompts_fixtures import reply_asked_for

ROLE_OF = {
    "SummaryReply": "summary",
    "CritiqueReply": "critique",
    "LocalReply": "local",
    "GlobalReply": "global",
    "CrossReply": "recombine",
}
SUMMARY = {"steps": "It adds and then doubts.", "principles_used": ["p2"], "errors": ["doubts the sum"]}
CRITIQUE = {
    "successes": ["commits"],
    "failures": ["doubts"],
    "guidance_needed": ["Commit."],
    "insufficient": ["p2"],
}


def role_of(asked: Asked) -> str:
    """Which role a request is of, by the schema that it asks for."""
    return ROLE_OF[reply_asked_for(asked.messages[0]["content"])]


class Editor:
    """A model that answers by role; a reply may be a function of the request, and may be an action
    instead."""

    def __init__(self, **replies: Any):
        self.replies = {
            "summary": SUMMARY,
            "critique": CRITIQUE,
            "local": {"edits": []},
            "global": {"edits": []},
        } | replies
        self.asked: list[tuple[str, str]] = []

    def __call__(self, asked: Asked) -> Action:
        role, user = role_of(asked), asked.messages[1]["content"]
        self.asked.append((role, user))
        reply = self.replies[role]
        reply = reply(user) if isinstance(reply, Callable) else reply
        return reply if isinstance(reply, Action) else say(reply)

    def users(self, role: str) -> list[str]:
        return [user for name, user in self.asked if name == role]
