"""The archive of the prompts line: what enters a cycle and what leaves it. Rows are added, ratings and states
change; no row is removed.

The root prompts as what may immigrate: those of `roots.json`, and files of the same form in the folder
`roots` next to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from evolake.errors import InputError
from evolake.lake.added_seeds import SeedItem, SeedSource, text_item
from evolake.lake.population import Archive
from evolake.prompts.edit_memory import Operator
from evolake.prompts.model.library import load_roots, read_roots, root_files, roots_in
from evolake.prompts.model.prompt import SystemPrompt, from_json
from evolake.prompts.ratings import (
    MOST_MATCHES,
    MU,
    SIGMA,
    Entrant,
    Match,
    Rating,
    Skills,
    estimate_skills,
    latest,
)
from evolake.prompts.tables import ARCHIVE

BLOCKED = "blocked"
ITERATION = "iteration"
"""State: iterations so far."""
MATCHES = "matches"
"""State: the latest matches, each a list of [number of a prompt, its mean reward, replies, variance of one];
`evolake.prompts.ratings` reads them."""
INCUMBENT = "incumbent"
"""State: the prompt that stepwise selection edits; null if selection is the paper's."""
RETIRED = 3.0
"""Deviations by which a prompt is worse than the incumbent when stepwise selection draws it no more."""


@dataclass(frozen=True)
class Birth:
    """How a prompt came to be. origin: backend that edited it, or the name of the root. idea: what it is, in
    short."""

    operator: Operator | Literal["root"]
    cycle: str
    iteration: int
    origin: str
    idea: str | None = None


@dataclass(frozen=True)
class Population(Archive):
    """The tables of the archive, each a frame of its schema in `tables.ARCHIVE`."""

    schemas = ARCHIVE

    prompts: pl.DataFrame

    def prompt(self, prompt_id: str) -> SystemPrompt:
        """Return one prompt. Raises KeyError when there is none."""
        return from_json(self.row(prompt_id)["principles"])

    def rating(self, prompt_id: str) -> Rating:
        """Return (mu, sigma) of one prompt. Raises KeyError when there is none."""
        row = self.row(prompt_id)
        return row["mu"], row["sigma"]

    def living(self) -> list[dict[str, Any]]:
        """Return rows of the prompts that no gate has blocked, in order of birth."""
        return self.prompts.filter(pl.col("state") != BLOCKED).to_dicts()

    def entrants(self) -> list[Entrant]:
        """Return the living prompts as selection sees them, in order of birth."""
        return [Entrant(row["prompt_id"], row["number"], (row["mu"], row["sigma"])) for row in self.living()]

    def known(self) -> set[tuple[str, ...]]:
        """Return the texts of every prompt, the blocked ones too: what a child must differ from."""
        return {from_json(row["principles"]).texts for row in self.rows()}

    def best_id(self) -> str:
        """Return what stepwise selection edits; else the living prompt with the highest estimated skill of
        those that took part in an iteration, of equal ones the youngest, the youngest if none took part."""
        if self.value(INCUMBENT):
            return self.incumbent_id
        rows = [row for row in self.living() if row["rounds"]] or self.living()[-1:]
        number = self.skills().best([row["number"] for row in rows])
        return next(row["prompt_id"] for row in rows if row["number"] == number)

    @property
    def matches(self) -> list[Match]:
        """The latest matches, the oldest first."""
        return self.value(MATCHES, [])

    @property
    def incumbent_id(self) -> str:
        """The prompt that stepwise selection edits; the champion, or the first that lives, in the place of
        one that was blocked."""
        living = [row["prompt_id"] for row in self.living()]
        wanted = (self.value(INCUMBENT), self.champion_id, *living)
        return str(next(name for name in wanted if name in living))

    def skills(self, offered: Sequence[SystemPrompt] = ()) -> Skills:
        """Return the skill of every prompt, the blocked ones too, as all matches together say; and of prompts
        that are offered, numbered after the others."""
        texts = {row["number"]: from_json(row["principles"]).texts for row in self.rows()}
        later = {len(texts) + place: prompt.texts for place, prompt in enumerate(offered)}
        return estimate_skills(texts | later, self.matches)

    def with_match(self, results: Mapping[str, Sequence[float]]) -> Population:
        """Return this with one more match. results: prompt id -> (its mean reward, replies, variance of one).
        One prompt alone has met no other: no match."""
        if len(results) < 2:
            return self
        match = [[self.row(prompt)["number"], *result] for prompt, result in results.items()]
        return self.with_values(**{MATCHES: [*self.matches, match][-MOST_MATCHES:]})

    def with_child(
        self, child: SystemPrompt, parents: Mapping[str, float], rating: Rating, birth: Birth
    ) -> Population:
        """With a child added. parents: prompt id -> weight in its derivation; the weights add up to 1.

        Raises:
            ValueError: the child is there already.
        """
        if child.prompt_id in set(self.prompts["prompt_id"]):
            raise ValueError(f"prompt {child.prompt_id} is in the population already")
        row = _row(child, rating, birth, number=len(self.prompts), parents=list(parents))
        lines = [
            {
                "child_id": child.prompt_id,
                "parent_id": parent,
                "operator": birth.operator,
                "weight": weight,
                "cycle": birth.cycle,
            }
            for parent, weight in parents.items()
        ]
        return self.add(prompts=[row], derivations=lines)

    def root(self, prompt: SystemPrompt, name: str, cycle: str) -> dict[str, Any]:
        """Return the row of a root that comes to this population, with a fresh rating. One that is there
        already keeps its number."""
        numbers = dict(self.prompts.select("prompt_id", "number").iter_rows())
        number = numbers.get(prompt.prompt_id, len(numbers))
        return _row(prompt, (MU, SIGMA), Birth("root", cycle, 0, name), number=number)

    def rated(self, ratings: Mapping[str, Rating]) -> Population:
        """With new ratings for the prompts that took part in an iteration."""
        return self._changed(
            {
                prompt: {"mu": mu, "sigma": sigma, "rounds": self.row(prompt)["rounds"] + 1}
                for prompt, (mu, sigma) in ratings.items()
            }
        )

    def in_window(self, window: int | None) -> Population:
        """With states as the window has it: retired outside; inside accepted where the prompt took part once,
        else candidate. The champion stays, also outside of the window. None: stepwise selection, for which
        those are outside that are worse than the incumbent beyond RETIRED deviations."""
        inside = self.within_reach()
        if window is not None:
            inside = {item.prompt_id for item in latest(self.entrants(), window)}
        states: dict[str | None, Mapping[str, Any]] = {}
        for row in self.living():
            if row["state"] == "champion":
                continue
            if row["prompt_id"] not in inside:
                state = "retired"
            else:
                state = "accepted" if row["rounds"] else "candidate"
            states[row["prompt_id"]] = {"state": state}
        return self._changed(states)

    def within_reach(self) -> set[str]:
        """Return the living prompts that are not worse than the incumbent beyond RETIRED deviations."""
        skills, incumbent = self.skills(), self.row(self.incumbent_id)["number"]
        leads = {row["prompt_id"]: skills.over(row["number"], incumbent) for row in self.living()}
        return {name for name, (lead, deviation) in leads.items() if lead >= -RETIRED * deviation}

    def blocked(self, prompt_ids: Collection[str]) -> Population:
        """With prompts that a gate has blocked: never selected again. Raises KeyError when there is no such
        prompt."""
        return self._changed(
            {self.row(prompt_id)["prompt_id"]: {"state": BLOCKED} for prompt_id in prompt_ids}
        )

    def with_champion(self, prompt_id: str, window: int | None) -> Population:
        """With another champion; the one before goes back to what `in_window` makes of it. Raises KeyError
        when there is no such prompt."""
        self.row(prompt_id)
        changes = {self.champion_id: {"state": "accepted"}} if self.champion_id else {}
        return self._changed({**changes, prompt_id: {"state": "champion"}}).in_window(window)

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        return int(self.value(ITERATION, 0))

    def _changed(self, changes: Mapping[str | None, Mapping[str, Any]]) -> Population:
        return self.with_tables(
            prompts=[row | dict(changes.get(row["prompt_id"], {})) for row in self.rows()]
        )


def found_population(roots: Mapping[str, SystemPrompt], cycle: str) -> Population:
    """Return a population of root prompts with fresh ratings; E-SPL starts from one. roots: name -> prompt.

    Raises:
        ValueError: there is no root, or two are the same.
    """
    ids = [root.prompt_id for root in roots.values()]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError("a population needs a root, and no root twice")
    rows = [
        _row(root, (MU, SIGMA), Birth("root", cycle, 0, name), number=number)
        for number, (name, root) in enumerate(roots.items())
    ]
    return Population.empty().add(prompts=rows)


def population_of(tables: Mapping[str, pl.DataFrame]) -> Population:
    """Return the archive from its published tables. Raises InputError where one does not fit its schema."""
    result = Population.of(tables)
    return replace(result, prompts=result.prompts.sort("number"))


def _row(
    prompt: SystemPrompt, rating: Rating, birth: Birth, *, number: int, parents: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "prompt_id": prompt.prompt_id,
        "cycle": birth.cycle,
        "iteration": birth.iteration,
        "number": number,
        "state": "candidate",
        "operator": birth.operator,
        "parents": list(parents),
        "principles": prompt.to_json(),
        "text": prompt.text(),
        "size": len(prompt.principles),
        "mu": rating[0],
        "sigma": rating[1],
        "rounds": 0,
        "origin": birth.origin,
        "idea": birth.idea,
    }


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """In the order of `load_roots`; each known by its principles, not by its name. A folder of added seeds
    alone needs no `roots.json`."""
    folder = seeds / "prompts"
    first, *further = root_files(folder)
    needed = first.exists() or settings is None or seeds == settings.seeds
    if needed:
        result = load_roots(folder)
    else:
        result = roots_in(further) if further else {}
    files = {name: file for file in ([first] if needed else []) + further for name in read_roots(file)}
    return [text_item(name, prompt.to_json().encode(), files[name]) for name, prompt in result.items()]


def check(path: Path) -> str:
    """Raise InputError where the file holds no root prompts."""
    if not accepts(path):
        raise InputError(
            f"{path} holds no root prompts",
            wanted='a JSON file like {"careful": ["Check each step.", "End with the answer."]}',
        )
    return ", ".join(read_roots(path))


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return path.is_file() and path.suffix == ".json"


SEEDS = SeedSource("prompts/roots", items, accepts, check)
