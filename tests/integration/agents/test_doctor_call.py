"""`evolake doctor --call` against real servers on loopback: what each can and cannot do is told, and nothing
is asked without the option."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from loopback_model import KEY, Action, Asked, LoopbackModel, completion, raw, say, status

from evolake.cli.doctor import ONLY_MODEL, doctor, endpoint_checks
from evolake.errors import InputError
from evolake.settings import BudgetSettings, Settings, load

TOTAL = {"total": 42}


def called(arguments: Any) -> Action:
    body = completion(None, finish="tool_calls")
    body["choices"][0]["message"]["tool_calls"] = [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "report_total", "arguments": json.dumps(arguments)},
        }
    ]
    return raw(json.dumps(body).encode())


def able(asked: Asked) -> Action:
    return called(TOTAL) if "tools" in asked.body else say(TOTAL)


def plain(asked: Asked) -> Action:
    """A server of text alone, that counts nothing and knows no functions."""
    if asked.response_format is not None:
        return status(400, message="response_format is not supported")
    return say("no idea" if "tools" in asked.body else TOTAL, usage=None)


def checks(base_url: str, *, call: bool = True, **changes: Any) -> dict[str, dict[str, Any]]:
    values: dict[str, Any] = {
        "backend": "model",
        "model_base_url": base_url,
        "model_api_key": KEY,
        "models": {"default": "m"},
        "model_max_retries": 0,
        "budget": BudgetSettings(tokens_per_run=1000),
    }
    return {check["name"]: check for check in endpoint_checks(Settings(**(values | changes)), call=call)}


def outcomes(checked: dict[str, dict[str, Any]]) -> dict[str, bool]:
    return {name: item["ok"] for name, item in checked.items()}


def test_an_endpoint_that_can_all_of_it_is_told_so_with_three_calls():
    with LoopbackModel(able) as server:
        result = checks(server.base_url)
        assert len(server.requests) == 3
        assert [asked.body["max_completion_tokens"] for asked in server.requests] == [2000, 2000, 8192]
    tried = ("structured replies", "usage", "function calling", "request of real size")
    assert outcomes(result) == dict.fromkeys(
        ("model endpoint", "model budget", *(f"m: {what}" for what in tried)), True
    )
    assert result["m: structured replies"]["detail"] == "as its schema says"
    assert result["model budget"]["detail"] == "1,000 tokens per run"


def test_without_the_option_nothing_is_asked():
    with LoopbackModel(able) as server:
        assert outcomes(checks(server.base_url, call=False)) == {"model endpoint": True, "model budget": True}
        assert server.requests == []


def test_what_an_endpoint_cannot_is_told_with_what_it_costs():
    with LoopbackModel(plain) as server:
        result = checks(server.base_url)
    assert outcomes(result)["m: structured replies"] and result["m: structured replies"]["detail"].startswith(
        "as text;"
    )
    assert not result["m: usage"]["ok"] and not result["m: function calling"]["ok"]
    assert (result["m: usage"]["needed"], result["m: function calling"]["needed"]) == (False, False)
    assert result["m: function calling"]["skips"] == "nothing: no role needs it"


def with_context(tokens: int) -> Any:
    """A server whose model has a context of so many tokens, four characters each."""

    def answer(asked: Asked) -> Action:
        prompt, limit = (
            sum(len(message["content"]) for message in asked.messages) // 4,
            asked.body["max_completion_tokens"],
        )
        if prompt + limit > tokens:
            return status(
                400,
                message=(
                    f"This model's maximum context length is {tokens} tokens. However, you requested "
                    f"{prompt + limit} tokens ({prompt} in the messages, {limit} in the completion)."
                ),
            )
        return able(asked)

    return answer


def test_a_context_smaller_than_the_reply_limit_is_said_and_adapted_to():
    with LoopbackModel(with_context(10_000)) as server:
        item = checks(server.base_url)["m: request of real size"]
    assert (item["ok"], item["needed"]) == (
        False,
        False,
    ) and "its context has 10,000 tokens: replies after a prompt of 24," in item["detail"]
    assert (
        item["detail"].endswith("tokens, not 8,192")
        and "EVOLAKE_MODEL_MAX_OUTPUT_TOKENS" in item["mend"]
        and "cut off" in item["skips"]
    )


def test_a_context_into_which_no_prompt_fits_is_a_needed_thing_that_is_missing():
    with LoopbackModel(with_context(4096)) as server:
        item = checks(server.base_url)["m: request of real size"]
    assert (
        (item["ok"], item["needed"]) == (False, True)
        and "does not fit" in item["detail"]
        and "4096" in item["detail"]
        and item["mend"]
    )


def test_a_server_that_cuts_prompts_off_in_silence_is_found():
    def cutting(asked: Asked) -> Action:
        return say({"total": 25}) if len(asked.messages[0]["content"]) > 10_000 else able(asked)

    with LoopbackModel(cutting) as server:
        item = checks(server.base_url)["m: request of real size"]
    assert (
        not item["ok"]
        and "was answered with 25 for 42: the server may cut long prompts off" in item["detail"]
        and "num_ctx" in item["mend"]
    )


@pytest.mark.parametrize(
    ("script", "what", "said"),
    [
        ([say("It is sunny.")], "m: structured replies", "invalid: not JSON"),
        ([status(401)], "m: answers", "HTTP 401"),
        ([raw(b"<html>", "text/html")], "m: answers", "not JSON"),
    ],
    ids=["nonsense", "no key", "no endpoint"],
)
def test_an_endpoint_that_cannot_serve_is_a_needed_thing_that_is_missing(script, what, said):
    with LoopbackModel(script) as server:
        item = checks(server.base_url)[what]
    assert not item["ok"] and item["needed"] and said in item["detail"] and item["mend"]


ODD = {"sum": 42}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([say(ODD)], 'the reply begins: {"sum": 42}'),
        (
            [say("I would say\x1b[31m\n\tthat it is 42. " + "Or 43. " * 900)],
            "the reply begins: I would say\ufffd[31m that it is 42. Or 43. Or",
        ),
        ([raw(b'{"answer": 42}')], 'the reply begins: {"answer": 42}'),
        ([raw(b"[42]")], "the reply begins: [42]"),
    ],
    ids=["other names", "prose", "other envelope", "no object"],
)
def test_a_reply_of_another_form_is_shown_by_its_beginning(script, said):
    with LoopbackModel(script) as server:
        detail = checks(server.base_url)["m: structured replies"]["detail"]
    assert said in detail and detail.isprintable() and len(detail) < 300
    assert detail.endswith("...") == ("Or 43" in said)


def test_no_character_of_an_answer_moves_the_cursor_of_a_terminal():
    with LoopbackModel([raw(b"\x1b[2J<html>", "text/html")]) as server:
        detail = checks(server.base_url)["m: answers"]["detail"]
    assert "[2J<html>" in detail and detail.isprintable()


def test_a_key_that_a_server_sends_back_is_not_shown():
    with LoopbackModel([say(f"your key is {KEY}, is it not?")]) as server:
        shown = checks(server.base_url)["m: structured replies"]["detail"]
    assert "your key is" in shown and KEY not in shown


@pytest.mark.parametrize("brief", [(), ("--brief",)])
def test_where_only_the_model_cannot_be_used_doctor_says_that_operators_work(monkeypatch, tmp_path, brief):
    with LoopbackModel([say("It is sunny.")]) as server:
        for name, value in {
            "LAKE": tmp_path / "lake",
            "MODEL_BASE_URL": server.base_url,
            "MODEL_API_KEY": KEY,
            "MODELS": '{"default": "m"}',
            "BUDGET__TOKENS_PER_RUN": "1000",
            "BACKEND": "model",
        }.items():
            monkeypatch.setenv(f"EVOLAKE_{name}", str(value))
        done = CliRunner().invoke(doctor, ["--call", *brief], standalone_mode=False)
    assert done.return_value == 1 and "the reply begins: It is sunny." in done.output
    said = (
        "the model backend cannot be used yet, the operators backend can: m: " if brief else f"{ONLY_MODEL}\n"
    )
    assert said in done.output and "cannot work" not in done.output.replace(
        "skips: evolake cannot work without it", ""
    )


def test_who_asks_what_an_endpoint_can_is_answered_by_the_exit_code_whatever_the_backend():
    with LoopbackModel([say("It is sunny.")]) as server:
        item = checks(server.base_url, backend="operators")["m: structured replies"]
    assert item["needed"] and "replies in the form" in item["mend"]
    assert (
        checks("", backend="operators")["model endpoint"]["needed"]
        and not checks("", backend="operators", call=False)["model endpoint"]["needed"]
    )


def test_no_credential_is_shown():
    shown = json.dumps(checks("http://user:hidden-word@127.0.0.1:9/v1"))
    assert "hidden-word" not in shown and KEY not in shown and "http://127.0.0.1:9/v1" in shown


def test_operators_need_no_endpoint_and_the_model_needs_a_budget():
    assert outcomes(checks("", call=False, backend="operators")) == {"model endpoint": True}
    assert not checks("http://127.0.0.1:9", call=False, budget=BudgetSettings())["model budget"]["ok"]
    assert not checks("localhost:1", call=False)["model endpoint"]["ok"]


@pytest.mark.parametrize("name", ["USD_PER_CYCLE", "USD_PER_RUN", "TOKENS_PER_CYCLE", "TOKENS_PER_RUN"])
@pytest.mark.parametrize("value", ["nan", "inf", "-5", "-inf", "many"])
def test_a_budget_that_is_no_bound_is_refused_before_any_work(monkeypatch, name, value):
    monkeypatch.setenv(f"EVOLAKE_BUDGET__{name}", value)
    with pytest.raises(InputError, match=rf"budget\.{name.lower()}") as caught:
        load()
    assert f"EVOLAKE_BUDGET__{name}" in (caught.value.do or "")
