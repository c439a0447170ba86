"""Tasks on sequences: word sorting, bracket completion, car painting, stack permutation."""

# A paragraph of a statement is one line, however long.
# ruff: noqa: E501

from foreign_tasks.writing import task

SORTING = task(
    "word-sorting",
    "symbolic",
    "list",
    generator="""
import random

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grape", "heron", "ivory", "jolly", "koala", "lemon", "mango", "north", "ocean",
         "piano", "quilt", "raven", "sugar", "tiger", "umbra", "vivid", "waltz", "yacht", "zebra", "bread", "stone", "cloud", "earth", "frost"]


def input(difficulty):
    order = "".join(random.sample("abcdefghijklmnopqrstuvwxyz", 26))
    words = random.sample(WORDS, 4 + 2 * difficulty)
    return {"order": order, "words": words}, [" ".join(order), ", ".join(words)]
""",
    template="""
In a new alphabet the letters are in this order: [Input Slot 1].

Words are sorted by this alphabet as in a dictionary: by the first letter in which they differ.

<!-- question -->
Sort these words in increasing order: [Input Slot 2]. What is the list of words?
""",
    reader="""
import re


def read(text):
    order = re.search(r"in this order: ([a-z ]+)\\.", text).group(1).replace(" ", "")
    return {"order": order, "words": re.search(r"increasing order: ([a-z, ]+)\\.", text).group(1).split(", ")}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "words" not in inputs:
        return {"status": "schema_error", "detail": "words"}
    return sorted(inputs["words"], key=lambda word: [inputs["order"].index(letter) for letter in word])
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "words" not in inputs:
        return {"status": "schema_error", "detail": "words"}
    table = str.maketrans(inputs["order"], "abcdefghijklmnopqrstuvwxyz")
    back = str.maketrans("abcdefghijklmnopqrstuvwxyz", inputs["order"])
    return [word.translate(back) for word in sorted(word.translate(table) for word in inputs["words"])]
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "words" not in inputs:
        return {"status": "schema_error", "detail": "words"}
    result = []
    for word in inputs["words"]:
        place = 0
        while place < len(result) and earlier(result[place], word, inputs["order"]):
            place += 1
        result.insert(place, word)
    return result


def earlier(one, other, order):
    for mine, theirs in zip(one, other):
        if mine != theirs:
            return order.find(mine) < order.find(theirs)
    return len(one) < len(other)
""",
    ),
)
BRACKETS = task(
    "bracket-completion",
    "symbolic",
    "string",
    generator="""
import random

PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def input(difficulty):
    text, waiting = "", []
    while len(text) < 4 + 3 * difficulty or len(waiting) < 2 + difficulty // 3:
        if waiting and random.random() < 0.4:
            text += PAIRS[waiting.pop()]
        else:
            waiting.append(random.choice("([{<"))
            text += waiting[-1]
    return {"text": text}, [text]
""",
    template="""
Complete the following sequence to make it a valid bracket sequence. The sequence may contain: parentheses (), square brackets [], curly braces {}, angle brackets <>.

[Input Slot 1]

Every bracket is closed by one of its kind, and pairs do not cross. Only closing brackets are added at the end, as few as possible.

<!-- question -->
What is the complete sequence?
""",
    reader="""
import re


def read(text):
    return {"text": re.search(r"^([()\\[\\]{}<>]+)$", text, re.MULTILINE).group(1)}
""",
    validators=(
        """
PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def solution(inputs):
    if not isinstance(inputs, dict) or "text" not in inputs:
        return {"status": "schema_error", "detail": "text"}
    waiting = []
    for mark in inputs["text"]:
        if mark in PAIRS:
            waiting.append(PAIRS[mark])
        else:
            waiting.pop()
    return inputs["text"] + "".join(reversed(waiting))
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "text" not in inputs:
        return {"status": "schema_error", "detail": "text"}
    rest, before = inputs["text"], ""
    while rest != before:
        before = rest
        for pair in ("()", "[]", "{}", "<>"):
            rest = rest.replace(pair, "")
    return inputs["text"] + rest[::-1].translate(str.maketrans("([{<", ")]}>"))
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "text" not in inputs:
        return {"status": "schema_error", "detail": "text"}
    text, added, depth, wanted = inputs["text"], "", 0, {"(": 0, "[": 1, "{": 2, "<": 3}
    for mark in reversed(text):
        if mark in ")]}>":
            depth += 1
        elif depth:
            depth -= 1
        else:
            added += ")]}>"[wanted[mark]]
    return text + added
""",
    ),
)
PAINTING = task(
    "car-painting",
    "spatial",
    "integer",
    generator="""
import random


def input(difficulty):
    count = 4 + difficulty // 2
    cars = [random.choice("RGB") for _ in range(count)]
    return {"cars": cars, "reach": 1 + difficulty // 4}, [" ".join(cars), str(1 + difficulty // 4)]
""",
    template="""
Cars stand in a line before a paint shop. Each is painted in one colour, R, G or B, and these are the colours in the order of the line: [Input Slot 1].

The cars may be put into another order, but the place of each car may change by at most [Input Slot 2]. Whenever a car has another colour than the car before it, the paint is changed.

<!-- question -->
How many changes of paint are needed at least?
""",
    reader="""
import re


def read(text):
    cars = re.search(r"order of the line: ([RGB ]+)\\.", text).group(1).split()
    return {"cars": cars, "reach": int(re.search(r"at most (\\d+)\\.", text).group(1))}
""",
    validators=(
        """
from functools import lru_cache


def solution(inputs):
    if not isinstance(inputs, dict) or "cars" not in inputs:
        return {"status": "schema_error", "detail": "cars"}
    cars, reach = inputs["cars"], inputs["reach"]

    @lru_cache(None)
    def best(place, used, colour):
        if place == len(cars):
            return 0
        costs = [
            best(place + 1, used | 1 << car, cars[car]) + (colour not in ("", cars[car]))
            for car in range(max(0, place - reach), min(len(cars), place + reach + 1)) if not used >> car & 1
        ]
        return min(costs, default=len(cars))

    return best(0, 0, "")
""",
        """
from itertools import permutations


def solution(inputs):
    if not isinstance(inputs, dict) or "cars" not in inputs:
        return {"status": "schema_error", "detail": "cars"}
    cars = inputs["cars"]
    least = len(cars)
    for order in permutations(range(len(cars))):
        if all(abs(car - place) <= inputs["reach"] for place, car in enumerate(order)):
            least = min(least, sum(cars[one] != cars[two] for one, two in zip(order, order[1:])))
    return least
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "cars" not in inputs:
        return {"status": "schema_error", "detail": "cars"}
    cars, states = inputs["cars"], {(frozenset(), None): 0}
    for place in range(len(cars)):
        following = {}
        for (done, last), changes in states.items():
            for car, colour in enumerate(cars):
                if car not in done and -inputs["reach"] <= car - place <= inputs["reach"]:
                    key = (done | {car}, colour)
                    cost = changes + (last is not None and last != colour)
                    following[key] = min(cost, following.get(key, cost))
        states = following
    return min(states.values())
""",
    ),
)
STACK = task(
    "stack-permutation",
    "temporal",
    "boolean",
    generator="""
import random


def input(difficulty):
    count = 4 + difficulty
    waiting, stack, leaving = list(range(1, count + 1)), [], []
    while waiting or stack:
        if waiting and (not stack or random.random() < 0.5):
            stack.append(waiting.pop(0))
        else:
            leaving.append(stack.pop())
    if random.random() < 0.5:
        one, two = random.sample(range(count), 2)
        leaving[one], leaving[two] = leaving[two], leaving[one]
    return {"count": count, "leaving": leaving}, [str(count), ", ".join(map(str, leaving))]
""",
    template="""
The numbers from 1 to [Input Slot 1] are pushed onto a stack in increasing order. Between pushes, and after the last one, the number on top of the stack may be popped any number of times, as long as the stack is not empty. In the end every number has been popped.

<!-- question -->
Is it possible that the numbers are popped in this order: [Input Slot 2]?
""",
    reader="""
import re


def read(text):
    leaving = [int(item) for item in re.search(r"in this order: ([\\d, ]+)\\?", text).group(1).split(", ")]
    return {"count": int(re.search(r"from 1 to (\\d+)", text).group(1)), "leaving": leaving}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "leaving" not in inputs:
        return {"status": "schema_error", "detail": "leaving"}
    stack, following = [], 1
    for number in inputs["leaving"]:
        while following <= number:
            stack.append(following)
            following += 1
        if stack.pop() != number:
            return False
    return True
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "leaving" not in inputs:
        return {"status": "schema_error", "detail": "leaving"}
    order = inputs["leaving"]
    for place, number in enumerate(order):
        later = [item for item in order[place + 1:] if item < number]
        if later != sorted(later, reverse=True):
            return False
    return True
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "leaving" not in inputs:
        return {"status": "schema_error", "detail": "leaving"}
    states = {((), 1, 0)}
    while states:
        stack, following, popped = states.pop()
        if popped == inputs["count"]:
            return True
        if following <= inputs["count"]:
            states.add((stack + (following,), following + 1, popped))
        if stack and stack[-1] == inputs["leaving"][popped]:
            states.add((stack[:-1], following, popped + 1))
    return False
""",
    ),
)
