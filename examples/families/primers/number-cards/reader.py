import re

SENTENCES = {
    "On the cards stand the numbers {numbers}.": "always",
    "Which of these numbers is the largest?": "END?",
    "Which of these numbers is the smallest?": "END?",
}


def read(text):
    numbers = re.search(r"On the cards stand the numbers ([\d, ]+ and \d+)\.", text).group(1)
    return {"cards": [int(number) for number in re.findall(r"\d+", numbers)]}
