"""Letter by letter: only the words with the foremost letter stay, or those with the hindmost."""

END = "first"


def solution(inputs):
    try:
        left = list(inputs["words"])
        longest = max(map(len, left))
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "words"}
    for place in range(longest):
        letters = [word[place : place + 1] for word in left]
        best = letters[0]
        for letter in letters:
            if letter < best if END == "first" else letter > best:
                best = letter
        left = [word for word, letter in zip(left, letters, strict=True) if letter == best]
    return left[0]
