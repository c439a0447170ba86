"""From left to right, with the number of ways that lead to each stack of open letters."""

from collections import Counter

INSIDE = "any"
LIMIT = "most"


def ways(word, depth):
    stacks = Counter({"": 1})
    for shown in word:
        following = Counter()
        for stack, number in stacks.items():
            for letter in "abAB" if shown == "?" else shown:
                if letter.isupper():
                    if stack.endswith(letter.lower()):
                        following[stack[:-1]] += number
                elif len(stack) < depth and not (INSIDE == "ban" and letter == "a" and "b" in stack):
                    following[stack + letter] += number
        stacks = following
    return stacks[""]


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("word"), str) or not isinstance(inputs.get("depth"), int):
        return {"status": "schema_error", "detail": "word and depth"}
    word, depth = inputs["word"], inputs["depth"]
    return ways(word, depth) - (ways(word, depth - 1) if LIMIT == "exactly" else 0)
