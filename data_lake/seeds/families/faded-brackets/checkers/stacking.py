"""Goes from left to right with the brackets that wait to be closed."""

CLOSES = {")": "(", "]": "["}


def check(inputs, answer):
    if not isinstance(answer, str):
        return False
    waiting, shown = [], list(inputs["text"])
    for mark in answer:
        if not shown or shown.pop(0) not in ("?", mark):
            return False
        if mark in CLOSES.values():
            waiting.append(mark)
        elif mark not in CLOSES or not waiting or waiting.pop() != CLOSES[mark]:
            return False
    return not shown and not waiting
