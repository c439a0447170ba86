"""Fill the question marks one by one and count the words that come out; a letter that can no longer become right is not followed."""

INSIDE = "any"
LIMIT = "most"


def solution(inputs):
    try:
        word, wanted = inputs["word"], inputs["depth"]
        length = len(word)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "word and depth"}
    found = 0
    unfinished = [(0, [], 0)]
    while unfinished:
        place, opened, highest = unfinished.pop()
        if place == length:
            found += highest == wanted or LIMIT == "most"
            continue
        shown = word[place]
        if shown in "ab?":
            for letter in ("a", "b"):
                if shown in (letter, "?") and not (letter == "a" and INSIDE == "ban" and "b" in opened):
                    deeper = [*opened, letter]
                    if len(deeper) <= min(wanted, length - place - 1):
                        unfinished.append((place + 1, deeper, max(highest, len(deeper))))
        if opened and shown in (opened[-1].upper(), "?"):
            unfinished.append((place + 1, opened[:-1], highest))
    return found
