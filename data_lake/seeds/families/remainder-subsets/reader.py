import re


def read(text):
    cards = re.search(r"different cards\): ([\d, ]+)\.", text).group(1)
    remainder, modulus = re.search(r"leaves the remainder (\d+) when divided by (\d+)", text).groups()
    return {
        "cards": [int(card) for card in cards.split(",")], "modulus": int(modulus), "remainder": int(remainder), "largest": int(modulus) - 1,
    }
