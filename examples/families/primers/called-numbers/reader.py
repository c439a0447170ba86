import re

SENTENCES = {
    "These numbers were called: {numbers}.": "always",
    "Ida has the number {number}.": "always",
    "Was Ida's number called?": "ASKED?",
    "Is Ida's number above all that were called?": "ASKED?",
    "Yes or no?": "always",
}


def read(text):
    found = re.search(r"These numbers were called: (\d+(?:, \d+)+)\. Ida has the number (\d+)\.", text)
    return {"numbers": [int(number) for number in found.group(1).split(", ")], "wanted": int(found.group(2))}
