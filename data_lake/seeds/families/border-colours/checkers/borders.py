"""Looks at each border."""


def check(inputs, answer):
    if not isinstance(answer, list) or len(answer) != inputs["regions"]:
        return False
    for colour in answer:
        if isinstance(colour, bool) or not isinstance(colour, int) or not 1 <= colour <= inputs["colours"]:
            return False
    return all(answer[one - 1] != answer[two - 1] for one, two in inputs["borders"])
