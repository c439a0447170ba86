"""What a reward file adds if the data set has families whose questions have many correct answers."""

import json

answer_value = extract_boxed = label_of = row_of = reward = compute_score = text_of = None
__checkers__ = None
# --- program ---


import subprocess
import sys

CHECKERS = json.loads(__checkers__)
"""Family -> the sources of its checkers, `check(inputs, answer)`, which the gates of evolake have passed."""
CHECK_SECONDS = 2
"""Processor time of one verdict."""
READY = "ready"
CHECKING_PROCESS = '''
import json, resource, signal, sys

def late(number, frame):
    raise TimeoutError

task = json.loads(sys.stdin.read())
seconds = task["seconds"]
verdicts = sum(len(sources) for sources, _, _ in task["pairs"])
for limit, most in ((resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CPU, seconds * verdicts + 5)):
    resource.setrlimit(limit, (most, most))
signal.signal(signal.SIGVTALRM, late)
loaded = {}
for source in {source for sources, _, _ in task["pairs"] for source in sources}:
    loaded[source] = {}
    exec(compile(source, "<checker>", "exec"), loaded[source])
print("ready", flush=True)
for sources, inputs, answer in task["pairs"]:
    accepted = 0
    for source in sources:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            accepted += loaded[source]["check"](json.loads(inputs), json.loads(answer)) is True
        except Exception:
            pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(int(2 * accepted > len(sources)), flush=True)
'''


def checked(tasks):
    """Whether more than half of a family's checkers accept an answer. tasks: (family, inputs as JSON text, answer as a value).

    Checkers run in a process of their own without environment, with limits of time, memory and files. That is no sandbox: the gates have held them to
    plain computing, and replies are handed to them as data. An answer at which the process ends is worth nothing, and the next ones are tried again.
    """
    if unknown := sorted({family for family, _, _ in tasks} - CHECKERS.keys()):
        raise KeyError(f"no checkers of family {unknown[0]}: this reward.py belongs to another export than the data")
    pairs = [[CHECKERS[family], inputs, json.dumps(answer)] for family, inputs, answer in tasks]
    verdicts = []
    while len(verdicts) < len(pairs):
        left = pairs[len(verdicts) :]
        text = json.dumps({"seconds": CHECK_SECONDS, "pairs": left})
        most = 2 * CHECK_SECONDS * sum(len(sources) for sources, _, _ in left) + 60
        try:
            ended = subprocess.run(
                [sys.executable, "-I", "-S", "-c", CHECKING_PROCESS], input=text, env={}, capture_output=True, text=True, timeout=most
            )
            done = ended.stdout
            if not done.startswith(READY):
                raise RuntimeError(f"the process that runs the checkers does not start: {ended.stderr[-500:]}")
        except subprocess.TimeoutExpired as error:
            done = (error.stdout or b"").decode() if isinstance(error.stdout, bytes | None) else error.stdout
        said = [line == "1" for line in done.split("\n") if line in ("0", "1")][: len(left)]
        verdicts += said if len(said) == len(left) else [*said, False]
    return verdicts


def checked_scores(replies, labels, checkers, inputs, units):
    """The rewards of replies to questions of families with checkers, None for the others."""
    scores = [None if not checker else 0.0 for checker in checkers]
    asked = []
    for number, (reply, label, checker, names) in enumerate(zip(replies, labels, checkers, units, strict=True)):
        content = extract_boxed(reply) if checker else None
        value = None if content is None else answer_value(content, label_of(label), () if names is None else names)
        if value is not None:
            asked.append((number, (checker, inputs[number], value)))
    for (number, _), right in zip(asked, checked([task for _, task in asked]), strict=True):
        scores[number] = float(right)
    return scores


reward_by_label, score_by_label = reward, compute_score


def reward(completions, answer, case_sensitive=None, units=None, checker=None, inputs=None, **columns):
    """One reward a completion. checker, inputs: columns of the data set, empty texts where the answer is unique."""
    by_label = reward_by_label(completions, answer, case_sensitive, units, **columns)
    if checker is None or not any(checker):
        return by_label
    if inputs is None:
        raise ValueError("the column `inputs` is missing: keep it next to `checker`")
    by_checkers = checked_scores([text_of(reply) for reply in completions], answer, checker, inputs, units or [()] * len(completions))
    return [label if score is None else score for label, score in zip(by_label, by_checkers, strict=True)]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The reward of one reply."""
    extra = extra_info or {}
    if not extra.get("checker"):
        return score_by_label(data_source, solution_str, ground_truth, extra_info)
    label_of(ground_truth, row_of(f"a row of {data_source}", extra))
    return checked_scores([solution_str], [ground_truth], [extra["checker"]], [extra["inputs"]], [extra.get("units")])[0]
