"""Parts of the row, short ones first: a part is a pair around a part, and a part after it; square brackets first."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("text"), str):
        return {"status": "schema_error", "detail": "text"}
    text, best = inputs["text"], {}
    for place in range(len(text) + 1):
        best[place, place] = ""
    for length in range(2, len(text) + 1, 2):
        for start in range(len(text) - length + 1):
            found = paired(text, best, start, start + length)
            if found is not None:
                best[start, start + length] = found
    return best.get((0, len(text)), {"status": "schema_error", "detail": "no such row"})


def paired(text, best, start, end):
    for close in range(start + 1, end, 2):
        if (start + 1, close) in best and (close + 1, end) in best:
            for pair in ("[]", "()"):
                if text[start] in ("?", pair[0]) and text[close] in ("?", pair[1]):
                    return pair[0] + best[start + 1, close] + pair[1] + best[close + 1, end]
    return None
