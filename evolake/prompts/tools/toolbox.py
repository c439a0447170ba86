"""The tools that a policy has: what it is shown about them, and what comes of its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evolake.errors import InputError
from evolake.prompts.model.tool_calls import MALFORMED, UNKNOWN, read_call
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tools.corpus import VARIABLE, WANTED, corpus_files, corpus_sha, read_corpus
from evolake.prompts.tools.tool import Answered, Tool

if TYPE_CHECKING:
    from evolake.settings import Settings


class Called(NamedTuple):
    """A call as it was read, with the tool's answer. tool: "" if no name can be read."""

    tool: str
    given: str
    answered: Answered


class Toolbox:
    """Tools by their names. Close it, or use it as a context manager.

    Args:
        tools: at least one. most_calls: of one reply. most_tokens: of one result, its marks included.
    """

    def __init__(self, tools: Sequence[Tool], *, most_calls: int, most_tokens: int):
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.most_calls, self.most_tokens = most_calls, most_tokens

    def __enter__(self) -> Toolbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all tools."""
        for tool in self._tools.values():
            tool.close()

    def description(self) -> str:
        """Return what the policy is shown. It is after the problem, in the user's message: the system's holds
        the evolved prompt and nothing else."""
        times = "once" if self.most_calls == 1 else f"up to {self.most_calls} times"
        head = (
            f"You may use a tool, {times}: write a call in exactly this form and stop. Its result follows "
            "between <result> and </result>."
        )
        return "\n".join([head, *(tool.says for tool in self._tools.values())])

    def answer(self, turns: Sequence[str]) -> list[Called]:
        """Return what came of the call that ends each of these texts of a policy, in their order."""
        read = [read_call(turn) for turn in turns]
        answers: dict[int, Answered] = {}
        for name, tool in self._tools.items():
            places = [
                place for place, call in enumerate(read) if not isinstance(call, str) and call[0] == name
            ]
            if places:
                answers |= zip(places, tool.answer([read[place][1] for place in places]), strict=True)
        return [
            Called("", "", Answered(MALFORMED, f"no call: {call}"))
            if isinstance(call, str)
            else Called(
                *call,
                answers.get(place)
                or Answered(UNKNOWN, f"no tool {call[0]}, only {' and '.join(self._tools)}"),
            )
            for place, call in enumerate(read)
        ]


def check_tools(own: PromptsSettings) -> None:
    """Whether the tools of the settings can be given to their policy; reads no document.

    Raises:
        InputError: they cannot, and why.
    """
    if own.tools and own.policy == "endpoint":
        raise InputError(
            "a policy behind an endpoint cannot use tools here",
            wanted="a policy on this machine",
            got=f"EVOLAKE_PROMPTS__TOOLS={','.join(own.tools)} with EVOLAKE_PROMPTS__POLICY=endpoint",
            do="set EVOLAKE_PROMPTS__POLICY=local, or unset EVOLAKE_PROMPTS__TOOLS",
        )
    if "search" not in own.tools:
        if own.corpus is not None:
            raise InputError(
                f"{VARIABLE} is set and no tool searches it",
                wanted="`search` among EVOLAKE_PROMPTS__TOOLS",
                got=", ".join(own.tools) or "no tool",
                do=f"""set EVOLAKE_PROMPTS__TOOLS='["search"]', or unset {VARIABLE}""",
            )
        return
    if own.corpus is None:
        raise InputError(
            "the tool `search` has no corpus",
            wanted=WANTED,
            got=f"{VARIABLE} is not set",
            do=f"set {VARIABLE}, or leave `search` out of the tools",
        )
    corpus_files(own.corpus)


def open_toolbox(settings: Settings) -> Toolbox | None:
    """Return the tools that the settings name; None where they name none.

    Raises:
        InputError: as `check_tools` and `read_corpus`. JailUnavailable: `python` is among them, and no jail
            holds here.
    """
    own = settings.of(PromptsSettings)
    check_tools(own)
    if not own.tools:
        return None
    tools: list[Tool] = []
    if own.corpus is not None:
        from evolake.prompts.tools.search import Search

        tools.append(Search(read_corpus(own.corpus)))
    if "python" in own.tools:
        from evolake.prompts.tools.python import Python

        tools.insert(0, Python(settings.workers, settings.jail))
    return Toolbox(tools, most_calls=own.tool_turns, most_tokens=own.tool_tokens)


def corpus_of(own: PromptsSettings) -> str | None:
    """Return sha256 of the corpus that a policy with these settings searches; None for one that searches
    none. Raises InputError as `read_corpus`."""
    return corpus_sha(read_corpus(own.corpus)) if "search" in own.tools and own.corpus is not None else None
