"""Endpoints as people have them: errors of many shapes, small contexts, reasoning, streams and Azure's
addresses; a real server on loopback each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role
from loopback_model import (
    KEY,
    Action,
    Asked,
    LoopbackModel,
    Script,
    completion,
    fault_of,
    raw,
    say,
    status,
    streamed,
)

from evolake.agents import AgentFailure, open_agents
from evolake.errors import AgentUnavailable
from evolake.settings import BudgetSettings, Settings

GOOD = say({"total": 5})
LIMITS = ("max_completion_tokens", "max_tokens")


class Waits(list[float]):
    """The waits that the client wanted; none is slept."""

    def __call__(self, seconds: float) -> float:
        self.append(seconds)
        return 0.0


def ask(
    script: Script,
    folder: Path,
    *,
    times: int = 1,
    waits: Waits | None = None,
    path: str = "",
    **changes: Any,
) -> tuple[list[Any], list[Any], list[Asked]]:
    """Results, rows and requests of some calls."""
    with LoopbackModel(script) as server:
        values: dict[str, Any] = {
            "backend": "model",
            "model_base_url": server.base_url + path,
            "model_api_key": KEY,
            "models": {"default": "gpt-test"},
            "budget": BudgetSettings(tokens_per_run=1_000_000),
            "model_timeout_s": 5.0,
            "model_max_retries": 2,
        }
        wait = Waits() if waits is None else waits
        with open_agents(
            Settings(**(values | changes)), folder, "0001", "run-1", line="designs", wait=wait
        ) as agents:
            results = [
                agents.call(add_role(folder), AddRequest(a=2, b=3, note=str(n)), seed=0).value
                for n in range(times)
            ]
            return results, agents.rows(), server.requests


def refusing(refuse: Callable[[Asked], Action | None]) -> Script:
    """A server that answers what `refuse` has nothing against."""
    return lambda asked: refuse(asked) or GOOD


def fastapi(place: str, message: str, asked: Asked) -> Action:
    """What FastAPI says of a field, with the whole request repeated."""
    return fault_of(
        422,
        {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", place], "msg": message, "input": asked.body}
            ]
        },
    )


def new_name(asked: Asked) -> Action | None:
    if LIMITS[1] in asked.body:
        return status(
            400, message="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        )
    return status(400, message="Bad Request") if asked.response_format else None


REFUSALS: dict[str, Callable[[Asked], Action | None]] = {
    "a list names the limit": lambda asked: (
        fastapi(LIMITS[0], "Extra inputs are not permitted", asked) if LIMITS[0] in asked.body else None
    ),
    "a list names the format": lambda asked: (
        fastapi("response_format", "Extra inputs are not permitted", asked) if asked.response_format else None
    ),
    "a dict names the format": lambda asked: (
        fault_of(422, {"detail": {"errors": {"message": "response_format: unknown"}}})
        if asked.response_format
        else None
    ),
    "a text names the limit": lambda asked: (
        fault_of(400, {"error": "unknown argument max_completion_tokens"})
        if LIMITS[0] in asked.body
        else None
    ),
    "nothing is named and the limit is meant": lambda asked: (
        status(400, message="Bad Request") if LIMITS[0] in asked.body else None
    ),
    "nothing is named and both are meant": lambda asked: (
        fault_of(400, {"detail": "Bad Request"}) if LIMITS[0] in asked.body or asked.response_format else None
    ),
    "an empty body": lambda asked: Action(code=400) if LIMITS[0] in asked.body else None,
    "the new name is wanted": new_name,
    "no system message": lambda asked: (
        status(400, message="System role not supported")
        if any(message["role"] == "system" for message in asked.messages)
        else None
    ),
    "no system message, unnamed": lambda asked: (
        status(400, message="Bad Request")
        if any(message["role"] == "system" for message in asked.messages)
        else None
    ),
    "no instruction of a developer": lambda asked: (
        status(400, message="Developer instruction is not enabled for models/m")
        if any(m["role"] == "system" for m in asked.messages)
        else None
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_server_that_refuses_a_form_is_asked_in_the_next_one_and_that_is_remembered(tmp_path, name):
    results, rows, asked = ask(refusing(REFUSALS[name]), tmp_path, times=2)
    assert results == [AddReply(total=5)] * 2 and [row["status"] for row in rows] == ["ok"] * 2
    assert len(asked) <= 8
    assert asked[-2].body.keys() == asked[-1].body.keys() and REFUSALS[name](asked[-2]) is None


def test_the_words_of_a_system_message_that_is_refused_are_in_the_users(tmp_path):
    _, _, asked = ask(refusing(REFUSALS["no system message"]), tmp_path)
    system, user = (message["content"] for message in asked[0].messages)
    assert asked[-1].messages == [{"role": "user", "content": f"{system}\n\n{user}"}]


def test_an_error_that_no_form_mends_keeps_its_text_and_leaves_the_request_out(tmp_path):
    with pytest.raises(AgentUnavailable) as caught:
        ask(lambda asked: fastapi("seed", "Input should be a valid integer", asked), tmp_path)
    said = caught.value.got or ""
    assert said == "HTTP 422: body.seed: Input should be a valid integer"


def test_a_prompt_that_is_repeated_in_an_error_is_not_taken_for_the_servers_words(tmp_path):
    """The request speaks of a context length; the server does not."""

    def script(asked: Asked) -> Action:
        return fault_of(
            422,
            {
                "detail": [
                    {"loc": ["body"], "msg": "bad", "input": "maximum context length max_completion_tokens"}
                ]
            },
        )

    with pytest.raises(AgentUnavailable, match="HTTP 422: body: bad"):
        ask(script, tmp_path)


def small_context(context: int, text: str) -> Script:
    """A server with so many tokens of prompt and reply together."""

    def answer(asked: Asked) -> Action:
        prompt = sum(len(message["content"]) for message in asked.messages) // 4
        limit = next(asked.body[name] for name in LIMITS if name in asked.body)
        says = text.format(context=context, prompt=prompt, limit=limit, both=prompt + limit)
        return GOOD if prompt + limit <= context else status(400, message=says)

    return answer


CONTEXT_TEXTS = {
    "vllm before": (
        "This model's maximum context length is {context} tokens. However, you requested {both} tokens "
        "({prompt} in the messages, {limit} in the completion). Please reduce the length of the messages "
        "or completion."
    ),
    "vllm now": (
        "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context "
        "length is {context} tokens and your request has {prompt} input tokens ({limit} > {context} - "
        "{prompt})."
    ),
    "no numbers": "max_tokens is too large, please reduce it",
}


@pytest.mark.parametrize("text", CONTEXT_TEXTS)
def test_a_context_smaller_than_the_reply_limit_is_adapted_to(tmp_path, text):
    results, rows, asked = ask(small_context(4096, CONTEXT_TEXTS[text]), tmp_path, times=2)
    assert results == [AddReply(total=5)] * 2 and [row["status"] for row in rows] == ["ok"] * 2
    sent = [next(item.body[name] for name in LIMITS if name in item.body) for item in asked]
    assert sent[0] == 8192 and all(1024 <= limit < 4096 for limit in sent[-2:])
    assert text == "no numbers" or len(asked) == 3, "the second call knows the first one's answer"


def test_a_model_that_writes_less_than_the_limit_is_asked_for_what_it_writes(tmp_path):
    def answer(asked: Asked) -> Action:
        limit = asked.body[LIMITS[0]]
        says = (
            f"max_tokens is too large: {limit}. This model supports at most 4096 completion tokens, "
            f"whereas you provided {limit}."
        )
        return GOOD if limit <= 4096 else status(400, message=says)

    results, _, asked = ask(answer, tmp_path, times=2)
    assert results == [AddReply(total=5)] * 2 and [item.body[LIMITS[0]] for item in asked] == [
        8192,
        4096,
        4096,
    ]


def test_a_prompt_that_leaves_no_room_for_a_reply_is_rejected(tmp_path):
    [result], _, _ = ask(small_context(300, CONTEXT_TEXTS["vllm before"]), tmp_path)
    assert (
        isinstance(result, AgentFailure)
        and result.status == "rejected"
        and "maximum context length is 300" in result.reason
    )


def thinking(content: str | None, **fields: Any) -> Action:
    """A completion whose message has further fields."""
    body = completion(content)
    body["choices"][0]["message"] |= fields
    return raw(json.dumps(body).encode())


DRAFT, ANSWER = '{"total": 4}', '{"total": 5}'
REASONED = {
    "a draft in tags": say(f"<think>Perhaps {DRAFT}?</think>{ANSWER}"),
    "a fenced draft in tags": say(f"<think>\n```json\n{DRAFT}\n```\n</think>\n{ANSWER}"),
    "a lone closing tag": say(f"Perhaps {DRAFT}?</think>{ANSWER}"),
    "two thoughts": say(f"<think>{DRAFT}</think>So: {ANSWER}<think>{DRAFT} was wrong.</think>"),
    "a draft in prose": say(f"First I thought {DRAFT}. The answer: {ANSWER}"),
    "two blocks": say(f"```json\n{DRAFT}\n```\nNo:\n```json\n{ANSWER}\n```"),
    "stray braces": say("The set {2, 3} of {a: x} gives " + ANSWER + " for all } in {n}."),
    "a brace and a quote": say('Where {"a and b" are the terms, ' + ANSWER),
    "all in reasoning_content": thinking(None, reasoning_content=f"I add. {ANSWER}"),
    "all in reasoning": thinking("", reasoning=f"Perhaps {DRAFT}. No.\n```json\n{ANSWER}\n```"),
    "reasoning apart": thinking(ANSWER, reasoning_content=f"Perhaps {DRAFT}"),
}


@pytest.mark.parametrize("name", REASONED)
def test_the_last_complete_answer_after_reasoning_wins(tmp_path, name):
    [result], rows, _ = ask([REASONED[name]], tmp_path)
    assert (result, [row["status"] for row in rows]) == (AddReply(total=5), ["ok"])


NO_ANSWER = {
    "only a draft in tags": (say(f"<think>Perhaps {DRAFT}?</think>I do not know."), "invalid", "not JSON"),
    "reasoning that never ended": (say(f"<think>Perhaps {DRAFT}, or"), "invalid", "not JSON"),
    "a draft in reasoning": (
        thinking(None, reasoning_content=f"Perhaps {DRAFT}, I am not sure"),
        "empty",
        "characters of reasoning and no answer",
    ),
    "an inner object of one cut off": (say('{"first": {"total": 4}, "second'), "invalid", "not JSON"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_a_draft_is_no_answer_and_the_error_names_what_came(tmp_path, name):
    action, word, reason = NO_ANSWER[name]
    [result], _, _ = ask([action], tmp_path)
    assert isinstance(result, AgentFailure) and (result.status, reason in result.reason) == (word, True)


def test_a_limit_that_reasoning_used_up_is_named(tmp_path):
    body = completion(None, finish="length")
    body["choices"][0]["message"]["reasoning_content"] = "Hm. " * 10
    [result], _, _ = ask([raw(json.dumps(body).encode())], tmp_path)
    assert (
        isinstance(result, AgentFailure)
        and result.reason == "the reply ran into the output limit after 39 characters of reasoning"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min"}, "user_id": "u"},
        {"error": {"code": "rate_limit_exceeded", "message": "slow down"}},
        {
            "choices": [
                {
                    "error": {"code": 502, "message": "Provider returned error"},
                    "finish_reason": "error",
                    "message": {"content": ""},
                }
            ]
        },
    ],
    ids=["429", "a word", "of the choice"],
)
def test_a_success_with_an_error_in_it_waits_like_the_error(tmp_path, body):
    waits = Waits()
    [result], rows, asked = ask([raw(json.dumps(body).encode()), GOOD], tmp_path, waits=waits)
    assert (result, [row["status"] for row in rows], len(asked), len(waits)) == (
        AddReply(total=5),
        ["ok"],
        2,
        1,
    )


@pytest.mark.parametrize(
    "path",
    ["?api-version=2024-10-21", "/?api-version=2024-10-21", "/chat/completions?api-version=2024-10-21"],
)
def test_the_query_of_a_base_url_goes_behind_the_path(tmp_path, path):
    [result], _, asked = ask([GOOD], tmp_path, path=path)
    assert (result, asked[0].path) == (AddReply(total=5), "/v1/chat/completions?api-version=2024-10-21")
    assert asked[0].headers["api-key"] == KEY


def test_an_endpoint_without_a_version_in_its_address_gets_the_key_once(tmp_path):
    _, _, asked = ask([GOOD], tmp_path, path="/chat/completions")
    assert asked[0].path == "/v1/chat/completions" and "api-key" not in asked[0].headers


def test_a_stream_that_nobody_asked_for_is_joined(tmp_path):
    [result], rows, asked = ask([streamed('{"total": 5}')], tmp_path)
    assert (result, rows[0]["status"], rows[0]["output_tokens"], len(asked)) == (
        AddReply(total=5),
        "ok",
        20,
        1,
    )


@pytest.mark.parametrize("options", [True, False], ids=["usage on request", "no options"])
def test_a_server_that_only_streams_is_asked_to_stream(tmp_path, options):
    def answer(asked: Asked) -> Action:
        if not asked.body.get("stream"):
            return status(400, message="This model only supports streaming. Please set stream=true.")
        if "stream_options" in asked.body and not options:
            return status(400, message="Unknown parameter: stream_options")
        return streamed('{"total": 5}')

    results, _, asked = ask(answer, tmp_path, times=2)
    assert results == [AddReply(total=5)] * 2 and len(asked) == (3 if options else 4)
    assert asked[-1].form == "json_schema", "the format that it takes is kept"


EVENTS = "text/event-stream"
WHOLE = streamed('{"total": 5}').body
BROKEN = {
    "it breaks off": streamed('{"total": 5', whole=False),
    "an event is cut": raw(WHOLE.replace(b'"finish_reason": null', b'"finish', 1), EVENTS),
    "an event is no UTF-8": raw(WHOLE.replace(b"total", b"tot\xffl", 1), EVENTS),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_stream_that_breaks_off_or_is_damaged_is_lost_charged_and_tried_again(tmp_path, broken):
    [result], rows, asked = ask([broken, GOOD], tmp_path)
    assert (result, [row["status"] for row in rows], len(asked)) == (
        AddReply(total=5),
        ["lost+no_usage", "ok"],
        2,
    )
