"""Generator and scorer of a task in SynLogic's shape, after `foreign_modules`."""

FILES = loaded = called_with = None
GAME = ("", "")
# --- program ---
import contextlib
import io
import json


def game():
    return getattr(loaded(GAME[0]), GAME[1])()


def input(difficulty):
    generate = game().generate
    with contextlib.redirect_stdout(io.StringIO()):
        made = called_with(generate, num_of_data=1, num_of_questions=1, language="en", difficulty=difficulty, max_attempts=200)
    data = next(iter(made))
    plain = {name: value for name, value in vars(data).items() if name not in ("question", "answer")}
    return {"question": data.question, "answer": json.loads(json.dumps(data.answer)), "more": json.dumps(plain, default=str)}, [data.question]


def check(inputs, answer):
    from base.data import Data

    data = Data(question=inputs["question"], answer=inputs["answer"])
    vars(data).update(json.loads(inputs["more"]))
    said = answer if isinstance(answer, str) else json.dumps(answer)
    with contextlib.redirect_stdout(io.StringIO()):
        return bool(game().verify(data, said))
