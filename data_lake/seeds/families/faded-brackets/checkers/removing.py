"""Takes out pairs that have nothing between them until none is left."""


def check(inputs, answer):
    if not isinstance(answer, str) or len(answer) != len(inputs["text"]):
        return False
    if any(shown not in ("?", mark) for shown, mark in zip(inputs["text"], answer, strict=True)):
        return False
    before = None
    while before != answer:
        before = answer
        answer = answer.replace("()", "").replace("[]", "")
    return answer == ""
