"""Meet in the middle: tables of what each half of the cards can give, then every pair of entries."""

from collections import Counter

FOLD = "sum"
SIZE = "any"


def table(cards, modulus):
    found = Counter()
    for mask in range(1 << len(cards)):
        value = 1 if FOLD == "product" else 0
        for index, card in enumerate(cards):
            if mask >> index & 1:
                value = {"sum": value + card, "product": value * card, "squares": value + card * card}[FOLD]
        found[value % modulus, bin(mask).count("1")] += 1
    return found


def solution(inputs):
    if not isinstance(inputs, dict) or "cards" not in inputs or "modulus" not in inputs or "remainder" not in inputs:
        return {"status": "schema_error", "detail": "cards, modulus, remainder"}
    cards, modulus = inputs["cards"], inputs["modulus"]
    middle = len(cards) // 2
    left, right = table(cards[:middle], modulus), table(cards[middle:], modulus)
    good = 0
    for (first, few), ways in left.items():
        for (second, many), others in right.items():
            size = few + many
            if size == 0 or (SIZE != "any" and size % 2 != (SIZE == "odd")):
                continue
            joined = first * second if FOLD == "product" else first + second
            if joined % modulus == inputs["remainder"]:
                good += ways * others
    return good
