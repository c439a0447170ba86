"""Generator and scorer of a task in Enigmata's shape, after `foreign_modules`."""

FILES = loaded = called_with = None
# --- program ---
import contextlib
import io
import json


def input(difficulty):
    generate = loaded(next(path for path in FILES if path.endswith("generator.py"))).generate
    level = "easy" if difficulty < 4 else "medium" if difficulty < 7 else "hard"
    with contextlib.redirect_stdout(io.StringIO()):
        made = called_with(generate, count=1, difficulty=level, language="en", split="train")
    row = made if isinstance(made, dict) else next(iter(made))
    text = row["prompt"] if isinstance(row["prompt"], str) else row["prompt"][-1]["content"]
    meta = row.get("meta", row)
    return {"answer": json.loads(json.dumps(row["answer"])), "meta": json.dumps(meta, default=str) if not isinstance(meta, str) else meta}, [text]


def check(inputs, answer):
    verify = loaded(next(path for path in FILES if path.endswith("verifier.py"))).verify
    said = answer if isinstance(answer, str) else json.dumps(answer)
    with contextlib.redirect_stdout(io.StringIO()):
        return float(verify(said, inputs["answer"], inputs["meta"])) >= 1.0
