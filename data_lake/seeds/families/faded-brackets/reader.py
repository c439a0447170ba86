import re


def read(text):
    return {"text": re.search(r"`([()\[\]?]+)`", text).group(1)}
