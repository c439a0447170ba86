import re

SENTENCES = {
    "People wait in a queue.": "always",
    "From {way} they are: {names}.": "always",
    "The answer is one of their names: {names}.": "always",
    "Who waits at the very front?": "END?",
    "Who waits at the very back?": "END?",
}


def read(text):
    found = re.search(
        r"People wait in a queue\. From (front to back|back to front) they are: (\w+(?:, \w+)+)\. The answer is one of their names: \w", text,
    )
    return {"queue": found.group(2).split(", "), "way": found.group(1)}
