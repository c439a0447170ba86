import re

SENTENCES = {
    "In a dictionary, words stand in the order of the alphabet.": "always",
    "These words are in it: {words}.": "always",
    "Which of them stands first in the dictionary?": "END?",
    "Which of them stands last in the dictionary?": "END?",
}


def read(text):
    words = re.search(
        r"In a dictionary, words stand in the order of the alphabet\. These words are in it: ([a-z, ]+ and [a-z]+)\.", text,
    ).group(1)
    return {"words": [word for word in re.findall(r"[a-z]+", words) if word != "and"]}
