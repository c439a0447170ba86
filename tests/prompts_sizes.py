"""The most that a cycle can sample: what docs/costs.md says by profile, and what a cycle's rows stay within.

A cycle's replies come from four places: iterations, a duel where somebody is rated above the champion,
held-out problems under the first root, the champion and the best-rated prompt (fewer where two of them are
one), and in the first cycle held-out problems under the base model.
"""

from dataclasses import dataclass

from evolake.prompts.settings import PromptsSettings


@dataclass(frozen=True)
class Most:
    """Replies of one cycle. learnt: those that an update is made of. duels: of the champion and of a
    challenger. heldout: of up to three prompts. base: of the first cycle alone. tokens: the most of one
    reply. updates: of the weights."""

    learnt: int
    duels: int
    heldout: int
    base: int
    tokens: int
    updates: int

    def replies(self, *, first: bool) -> int:
        """Of a whole cycle."""
        return self.learnt + self.duels + self.heldout + self.base * first

    def sampled(self, *, first: bool) -> int:
        """Tokens of a whole cycle."""
        return self.replies(first=first) * self.tokens


def most_of(settings: PromptsSettings) -> Most:
    """The most that these sizes allow, replies to the editor aside."""
    held = settings.heldout_problems * settings.heldout_samples
    return Most(
        learnt=settings.iterations_per_cycle
        * settings.batch_problems
        * settings.prompts_per_iteration
        * settings.rollouts,
        duels=2 * settings.duel_problems * settings.duel_samples,
        heldout=3 * held,
        base=held,
        tokens=settings.max_tokens,
        updates=settings.iterations_per_cycle,
    )
