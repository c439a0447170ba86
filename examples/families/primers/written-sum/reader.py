import re

SENTENCES = {
    "On the board stands {sum}.": "always",
    "What is the sum of these numbers?": "ASKED?",
    "What is the largest of these numbers?": "ASKED?",
}


def read(text):
    numbers = re.search(r"On the board stands (\d+(?: \+ \d+)+)\.", text).group(1)
    return {"numbers": [int(number) for number in numbers.split(" + ")]}
