"""A server on loopback that has vLLM's routes for one model and runtime adapters, with transformers and peft
below them: what it samples is real."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import torch
from local_server import listening
from peft import PeftModel

from evolake.prompts.policies.models import Base, load_base


class Double:
    """What the server holds and has heard. Set `spoil` to change what it answers to completions, `refused` to
    have a route fail."""

    def __init__(self, base: Base | None = None, max_model_len: int = 4096):
        self.base = base or load_base("tiny", None, Path("unused"), "float32")
        self.max_model_len = max_model_len
        self.adapters: dict[str, Path] = {}
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.spoil: Any = lambda body, choice: choice
        self.refused: set[str] = set()
        self.url = ""
        self._lock = threading.Lock()
        self._models: dict[str, Any] = {}

    def get(self, path: str) -> tuple[int, Any]:
        if path in self.refused or path != "/v1/models":
            return 404, {"detail": "Not Found"}
        rows = [
            {"id": "adapter", "parent": "base"},
            {"id": "base", "parent": None, "max_model_len": self.max_model_len},
        ]
        return 200, {"data": rows}

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        with self._lock:
            self.heard.append((path, body))
            if path in self.refused:
                return 400, {"error": {"message": "LoRA rank 64 is greater than max_lora_rank 16."}}
            if path == "/v1/load_lora_adapter":
                self.adapters[body["lora_name"]] = Path(body["lora_path"])
                with (
                    torch.random.fork_rng()
                ):  # peft draws weights before it reads them; the policy in this process draws on
                    self._models[body["lora_name"]] = PeftModel.from_pretrained(
                        deepcopy(self.base.model), body["lora_path"]
                    ).eval()
                return 200, "Success: LoRA adapter added successfully."
            if path == "/v1/unload_lora_adapter":
                if self.adapters.pop(body["lora_name"], None) is None:
                    return 404, {"error": {"message": "cannot be found"}}
                del self._models[body["lora_name"]]
                return 200, "Success: LoRA adapter removed successfully."
            model = self._models.get(body["model"]) or (self.base.model if body["model"] == "base" else None)
            if path != "/v1/completions" or model is None:
                return 404, {"error": {"message": f"The model `{body.get('model')}` does not exist."}}
            return 200, {"choices": [self.spoil(body, self._completed(model, body))]}

    def _completed(self, model: Any, body: dict[str, Any]) -> dict[str, Any]:
        ids = list(body["prompt"])
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(body.get("seed", 0))
            if "prompt_logprobs" in body:
                summary = torch.log_softmax(
                    model(input_ids=torch.tensor([ids])).logits[0, :-1].float(), dim=-1
                )
                rows = [
                    {str(token): {"logprob": float(summary[place, token])}}
                    for place, token in enumerate(ids[1:])
                ]
                return {"prompt_logprobs": [None, *rows], "token_ids": [0]}
            result: list[int] = []
            while len(result) < body["max_tokens"] and not (result and result[-1] in body["stop_token_ids"]):
                logits = model(input_ids=torch.tensor([ids + result])).logits[0, -1].float()
                heat = body["temperature"]
                result.append(
                    int(torch.multinomial(torch.softmax(logits / heat, dim=-1), 1))
                    if heat
                    else int(logits.argmax())
                )
        return {
            "token_ids": result,
            "finish_reason": "stop" if result[-1] in body["stop_token_ids"] else "length",
        }


@contextmanager
def serving(double: Double) -> Iterator[Double]:
    """The double on a port of loopback; its `url` says where."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*double.get(self.path))

        def do_POST(self) -> None:
            self._answer(
                *double.post(self.path, json.loads(self.rfile.read(int(self.headers["content-length"]))))
            )

        def _answer(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the screen."""

    with listening(Handler) as double.url:
        yield double
