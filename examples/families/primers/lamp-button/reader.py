import re

SENTENCES = {
    "A lamp is {state}.": "always",
    "Its button turns the lamp on or off, at every press.": "EFFECT?",
    "Its button turns the lamp on or off, at the first press only.": "EFFECT?",
    "The button is pressed by {persons}.": "always",
    "Is the lamp on or off then?": "always",
}


def read(text):
    found = re.search(
        r"A lamp is (on|off)\. Its button turns the lamp on or off, [a-z ]+\. "
        r"The button is pressed by (\w+ (?:once|\d+ times)(?:, \w+ (?:once|\d+ times))*)\.",
        text,
    )
    presses = re.findall(r"(\w+) (?:once|(\d+) times)", found.group(2))
    return {"lamp": found.group(1), "presses": [[person, int(times or 1)] for person, times in presses]}
