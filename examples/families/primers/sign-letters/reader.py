import re

SENTENCES = {
    "On a sign stands: {words}.": "always",
    "Tom counts the letters on it that are equal to {letter}.": "KIND?",
    "Tom counts the letters on it that are other than {letter}.": "KIND?",
    "How many letters does Tom count?": "always",
}


def read(text):
    found = re.search(r"On a sign stands: ([a-z ]+)\. Tom counts the letters on it that are \w+ \w+ ([a-z])\.", text)
    return {"words": found.group(1).split(), "letter": found.group(2)}
