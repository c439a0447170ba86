"""The generator of numbers."""

SHAPE = TOTAL = ""
__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def fits(number):
    digits = str(number)
    shaped = {
        "different": len(set(digits)) == len(digits), "rising": "".join(sorted(digits)) == digits, "repeated": len(set(digits)) < len(digits),
        "falling": digits[-1] < digits[0],
    }[SHAPE]
    total = sum(map(int, digits))
    return shaped and {"even": total % 2 == 0, "odd": total % 2 == 1, "third": total % 3 == 0}[TOTAL]


def input(difficulty):
    while True:
        low = random.randint(100, 400) if difficulty < 6 else random.randint(1000, 5000)
        width, divisor = (60 + 20 * difficulty, random.randint(4, 9)) if difficulty < 6 else (100 * difficulty, random.randint(11, 19))
        high, remainder = low + width + random.randint(0, 40), random.randrange(divisor)
        found = [number for number in range(low, high + 1) if number % divisor == remainder and fits(number)]
        if 2 <= len(found) <= 8 + 2 * difficulty:
            break
    texts = [str(low), str(high), str(divisor), str(remainder)]
    return {"low": low, "high": high, "divisor": divisor, "remainder": remainder}, texts


