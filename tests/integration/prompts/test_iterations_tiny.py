"""Iterations over a policy with real weights, small and random: the update reaches the weights, and a run
that was cut goes on to the same bytes."""

from prompts_fixtures import iterate, operators
from tiny_policy import tiny_policy

from evolake.prompts.evolution.iteration import TABLES, Iterations
from evolake.prompts.evolution.population import Population, found_population
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Problem, Rollout, Sample
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.settings import PromptsSettings

SIZES = PromptsSettings(
    batch_problems=3, prompts_per_iteration=2, rollouts=3, window=4, crossover=1.0, edits_per_problem=1
)


ROOTS = {"short": prompt_of(["Be brief."]), "long": prompt_of(["Take your time."])}


def even(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
    """Rewards replies of an even number of characters: something that random weights get right sometimes."""
    good = len(sample.reply) % 2 == 0
    return Rollout(
        prompt.prompt_id,
        problem.problem_id,
        number,
        sample.reply,
        sample.tokens,
        sample.truncated,
        good,
        True,
        float(good),
    )


def run(
    policy: LocalPolicy, count: int, population: Population | None = None, arm: str = "espl"
) -> Iterations:
    with operators() as agents:
        return iterate(
            population or found_population(ROOTS, "0001"),
            policy,
            count=count,
            agents=agents,
            judge=even,
            settings=SIZES,
            root_seed=5,
            arm=arm,
        )


def test_a_run_that_was_cut_goes_on_to_the_same_bytes():
    whole, first, second = tiny_policy(), tiny_policy(), tiny_policy()
    wanted = run(whole, 2)
    half = run(first, 1)
    second.load(first.save())
    rest = run(second, 1, half.population)
    assert second.save() == whole.save()
    assert all(
        frame.equals(rest.population.frames()[name]) for name, frame in wanted.population.frames().items()
    )
    assert all(wanted.rows[name] == half.rows[name] + rest.rows[name] for name in TABLES)
    assert len(wanted.population.prompts) > 2
