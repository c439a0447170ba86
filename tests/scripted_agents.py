"""Agents of the designs line whose answers are given beforehand."""

from typing import Any

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend


class Scripted:
    """A backend whose answers are given beforehand, role by role; roles without a script are served by the
    operators."""

    name = "scripted"
    threads = 1

    def __init__(self, answers: dict[str, list[Any]]):
        self.answers, self.asked = answers, []
        self._rest = OperatorsBackend("0001")

    def ask(self, job: Any, record: Any) -> Any:
        self.asked.append((job.role.name, job.request))
        if self.answers.get(job.role.name):
            return self.answers[job.role.name].pop(0)
        return self._rest.ask(job, record)

    def warm(self, job: Any) -> bool:
        return True

    def close(self) -> None:
        return None


def scripted(**answers: list[Any]) -> Agents:
    """Role's name -> the answers to its calls, in order."""
    return Agents(Scripted(answers), line="designs", cycle="0001")  # pyright: ignore[reportArgumentType]
