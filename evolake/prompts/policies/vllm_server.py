"""Replies sampled by a vLLM server, in its own environment, for a policy that is trained here.

The server holds the same base model. Before replies are sampled with weights that it has not seen, the
adapter is written to a folder that it can read, and the server loads it under its own name; the one before
goes. What comes back is token ids, held here against the vocabulary, the limits and the end marks; texts, log
probabilities and gradients are made of them here. Whether the server computes with these very weights is
asked each time they change: it says how probable the tokens of a fixed text are, and the policy here says it,
too.

A seed draws one reply each, so replies do not depend on which others are sampled next to them but for the
last bits of a batch's arithmetic: runs by a server are no two times the same byte for byte. The routes are
vLLM's: /v1/models, /v1/completions, /v1/load_lora_adapter, /v1/unload_lora_adapter.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from evolake.agents.http_client import BoundedClient, ReplyTooLarge
from evolake.errors import InputError, MachineryError
from evolake.prompts.model.protocol import Decoding
from evolake.prompts.policies.models import FLOAT32
from evolake.scratch import Scratch

TEXT = (
    "Seven grey herons stood along 412 metres of the old canal; by noon, three had flown off and one was "
    "asleep. How many were left awake?"
)
"""What the server and the policy here are held against each other on."""
FARTHEST = {FLOAT32: 0.01}
FARTHEST_ROUNDED = 0.15
"""Mean difference of the log probabilities of its tokens from which on the server has other weights: in
float32, and where logits are rounded."""
ASKED_S, DEADLINE_S, MOST_BYTES = 60.0, 3600.0, 64 << 20
URL, FOLDER = "EVOLAKE_PROMPTS__VLLM_URL", "EVOLAKE_PROMPTS__VLLM_FOLDER"


@dataclass(frozen=True)
class Weights:
    """The adapter that replies are sampled with.

    Attributes:
        version: another number for other weights. write: puts them into a folder, as peft does.
        log_probs: of the tokens of a text after its first, by the model here; (len(ids) - 1,), in nats.
    """

    version: int
    write: Callable[[Path], Any]
    log_probs: Callable[[Sequence[int]], list[float]]


def served(url: str) -> tuple[str, int | None]:
    """Return (the name of the base model that a server has, the most tokens that it reads).

    Raises:
        InputError: nothing answers there within a minute, or no vLLM server.
    """
    try:
        with BoundedClient(deadline_s=ASKED_S, max_bytes=MOST_BYTES) as client:
            answer = client.get(f"{url.rstrip('/')}/v1/models")
        models = answer.json()["data"] if answer.is_success else []
        base = next(model for model in models if not model.get("parent"))
        most = base.get("max_model_len")
        return str(base["id"]), most if isinstance(most, int) else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ReplyTooLarge) as error:
        got = f"{type(error).__name__}: {error}"
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        got = "something else at /v1/models"
    raise InputError(
        f"no vLLM server answers at {url}",
        wanted="the address of `vllm serve`",
        got=got,
        do=f"start it, or correct {URL}",
    )


class VllmServer:
    """A server that samples for one policy. Close it, or use it as a context manager: it forgets the policy's
    adapter then.

    Args:
        url: where it listens, `http://HOST:PORT`. folder: where adapters are laid, which the server sees at
            the same path; None: a temporary folder
        of this machine. dtype: of the policy's base model. vocabulary: its number of tokens. room: tokens of
            the longest prompt with its reply.
        at_once: replies that are asked for side by side.

    Raises:
        InputError: nothing answers there, it is no vLLM server, or it reads less than `room` tokens.
    """

    def __init__(self, url: str, folder: str | None, *, dtype: str, vocabulary: int, room: int, at_once: int):
        self.url, self._vocabulary, self._at_once = url.rstrip("/"), vocabulary, at_once
        self._farthest = FARTHEST.get(dtype, FARTHEST_ROUNDED)
        self._client = BoundedClient(deadline_s=DEADLINE_S, max_bytes=MOST_BYTES)
        self._mark = f"evolake-{secrets.token_hex(6)}"
        self._held: dict[
            int, tuple[str, Path]
        ] = {}  # version of the weights -> their name at the server, their folder
        self._scratch: Scratch | None = None
        self._folder = Path(folder) if folder else None
        if self._folder and not self._folder.is_dir():
            raise InputError(
                f"{FOLDER} is no folder",
                wanted="a folder that the vLLM server sees at the same path",
                got=str(self._folder),
            )
        self.base, most = served(self.url)
        if most is not None and most < room:
            raise InputError(
                f"the vLLM server at {self.url} reads too little",
                wanted=f"--max-model-len of at least {room}: the longest prompt with its reply",
                got=str(most),
                do=(
                    "start it with more, or lower EVOLAKE_PROMPTS__MAX_PROMPT_TOKENS or "
                    "EVOLAKE_PROMPTS__MAX_TOKENS"
                ),
            )

    def __enter__(self) -> VllmServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Has the server forget the adapter, and removes what was written for it. A server that does not
        answer any more is left alone."""
        for name, folder in self._held.values():
            with suppress(httpx2.HTTPError):
                self._client.post(f"{self.url}/v1/unload_lora_adapter", json={"lora_name": name})
            shutil.rmtree(folder, ignore_errors=True)
        self._held = {}
        self._client.close()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def check(self, ids: Sequence[int], own: Sequence[float], name: str | None = None) -> None:
        """Whether the server's model (its base, or the adapter `name`) finds the tokens of a text as probable
        as the policy here.

        Args:
            ids: the text's tokens. own: log probabilities of those after the first, by the policy here.

        Raises:
            InputError: it does not: it serves another model.
        """
        asked = {
            "model": name or self.base,
            "prompt": list(ids),
            "max_tokens": 1,
            "temperature": 0,
            "prompt_logprobs": 0,
        }
        rows: Any = self._choice(self._post("/v1/completions", asked)).get("prompt_logprobs")
        try:
            parts = [float(row[str(token)]["logprob"]) for row, token in zip(rows[1:], ids[1:], strict=True)]
        except (TypeError, KeyError, ValueError):
            raise self._strange("log probabilities of each token of the prompt", rows) from None
        far = sum(abs(first - other) for first, other in zip(parts, own, strict=True)) / len(parts)
        if not far <= self._farthest:  # nan, too
            raise InputError(
                f"the vLLM server at {self.url} computes with other weights than the policy here",
                wanted=f"log probabilities that differ by {self._farthest} nats on average",
                got=f"{far:.3g} nats, {'with the adapter' if name else 'without an adapter'}",
                do=(
                    "serve the model that EVOLAKE_PROMPTS__POLICY_MODEL names, with the --dtype of "
                    "EVOLAKE_PROMPTS__DTYPE"
                ),
            )

    def draw(
        self,
        rows: Sequence[Sequence[int]],
        seeds: Sequence[int],
        *,
        most_tokens: int,
        decoding: Decoding,
        ends: Sequence[int],
        check: Sequence[int],
        weights: Weights | None,
    ) -> list[list[int]]:
        """Return the tokens that follow on each row, up to its end mark.

        Args:
            rows: prompts, as token ids. seeds: one per row; without effect where the temperature is 0, the
                most probable token each time.
            ends: tokens that end a reply, and are its last. check: tokens of the fixed text. weights: the
                adapter; None: the base model alone.

        Raises:
            MachineryError: the server failed, or sent what is no reply to this. InputError: it computes with
                other weights.
        """
        name = self.base if weights is None else self._hold(weights, check)
        common = {
            "model": name,
            "max_tokens": most_tokens,
            "return_token_ids": True,
            "add_special_tokens": False,
            "skip_special_tokens": False,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "top_k": decoding.top_k,
            "stop_token_ids": list(ends),
        }
        with ThreadPoolExecutor(min(self._at_once, len(rows))) as pool:
            bodies = [
                common | {"prompt": list(row), "seed": seed} for row, seed in zip(rows, seeds, strict=True)
            ]
            return [
                self._reply(result, most_tokens, ends)
                for result in pool.map(lambda body: self._post("/v1/completions", body), bodies)
            ]

    def _hold(self, weights: Weights, check: Sequence[int]) -> str:
        """Return the name under which the server has these weights; loads them where it has others."""
        if weights.version in self._held:
            return self._held[weights.version][0]
        name = f"{self._mark}-{weights.version}"
        folder = self._place() / name
        folder.mkdir()
        weights.write(folder)
        before = list(self._held.items())
        self._held[weights.version] = (name, folder)
        self._post("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})
        self.check(check, weights.log_probs(check), name)
        for version, (old, place) in before:
            self._post("/v1/unload_lora_adapter", {"lora_name": old})
            shutil.rmtree(place, ignore_errors=True)
            del self._held[version]
        return name

    def _place(self) -> Path:
        """Return where adapters are laid."""
        if self._folder is not None:
            return self._folder
        if self._scratch is None:
            self._scratch = Scratch("vllm")
        return Path(self._scratch.name)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        """Return what the server says; text where it is no JSON."""
        try:
            answer = self._client.post(f"{self.url}{path}", json=body)
        except (httpx2.HTTPError, ReplyTooLarge) as error:
            raise self._failed(path, f"{type(error).__name__}: {error}") from None
        if not answer.is_success:
            raise self._failed(path, f"status {answer.status_code}: {answer.text[:400]}")
        try:
            return answer.json()
        except ValueError:
            return answer.text

    def _failed(self, path: str, got: str) -> MachineryError:
        wanted = {
            "/v1/load_lora_adapter": (
                "a server started with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora, whose "
                "--max-lora-rank is not below "
                "EVOLAKE_PROMPTS__LORA_RANK, and which sees the adapter's folder at the same path "
                f"({FOLDER})"
            )
        }.get(path, "a reply")
        return MachineryError(
            f"the vLLM server at {self.url} failed at {path}",
            wanted=wanted,
            got=got,
            do="look at its log, start it again, and run again; what was noted stays",
        )

    def _strange(self, wanted: str, got: object) -> MachineryError:
        return MachineryError(
            f"the vLLM server at {self.url} sent something else",
            wanted=wanted,
            got=json.dumps(got, default=str)[:200],
            do="use another version of vLLM",
        )

    def _choice(self, answer: Any) -> dict[str, Any]:
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not (isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict)):
            raise self._strange("one choice", answer)
        return choices[0]

    def _reply(self, answer: Any, most_tokens: int, ends: Sequence[int]) -> list[int]:
        """Return the token ids of a reply, held against the vocabulary, the limit and the end marks."""
        choice = self._choice(answer)
        ids = choice.get("token_ids")
        whole = isinstance(ids, list) and all(
            type(item) is int and 0 <= item < self._vocabulary for item in ids
        )
        if not (whole and ids and len(ids) <= most_tokens):
            raise self._strange(f"1 to {most_tokens} token ids below {self._vocabulary}", ids)
        if any(item in ends for item in ids[:-1]) or (ids[-1] not in ends and len(ids) < most_tokens):
            raise self._strange(
                f"a reply that ends at its first end mark ({', '.join(map(str, ends))}) or at the limit", ids
            )
        return ids
