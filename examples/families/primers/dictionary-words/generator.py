import random

WORDS = [
    "apple", "bread", "candle", "cherry", "cloud", "coffee", "dinner", "eagle", "flower", "garden", "hammer", "island", "jacket", "kettle",
    "lemon", "letter", "mirror", "needle", "ocean", "pepper", "piano", "queen", "rabbit", "silver", "summer", "tiger", "umbrella", "violin",
    "window", "yellow",
]


def input(difficulty):
    words = random.sample(WORDS, 1 + difficulty)
    return {"words": words}, [", ".join(words[:-1]) + f" and {words[-1]}"]
