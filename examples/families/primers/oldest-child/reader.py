import re

SENTENCES = {
    "This is known of some children: {one} is {how} than {two}.": "always",
    "{one} is older than {two}.": "",
    "{one} is younger than {two}.": "",
    "The answer is one of their names: {names}.": "always",
    "Which of these children is the oldest?": "END?",
    "Which of these children is the youngest?": "END?",
}


def read(text):
    said = re.search(
        r"This is known of some children: ((?:\w+ is (?:older|younger) than \w+\.\s*)+)The answer is one of their names: \w", text,
    ).group(1)
    return {"said": [list(found) for found in re.findall(r"(\w+) is (older|younger) than (\w+)", said)]}
