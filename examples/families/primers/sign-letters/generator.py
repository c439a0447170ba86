import random

WORDS = [
    "apple", "bread", "candle", "cherry", "cloud", "coffee", "dinner", "eagle", "flower", "garden", "hammer", "island", "jacket", "kettle",
    "lemon", "letter", "mirror", "needle", "ocean", "pepper", "piano", "queen", "rabbit", "silver", "summer", "tiger", "umbrella", "violin",
    "window", "yellow",
]


def input(difficulty):
    words = random.sample(WORDS, difficulty)
    letters = "".join(words)
    often = [letter for letter in sorted(set(letters)) if letters.count(letter) >= (difficulty + 1) // 2]
    letter = random.choice(often)
    return {"words": words, "letter": letter}, [" ".join(words), letter]
