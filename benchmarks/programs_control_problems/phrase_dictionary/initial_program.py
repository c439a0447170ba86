"""A dictionary for the compression of a log."""


# EVOLVE-BLOCK-START
def phrases(text):
    """Return at most 20 phrases that stand for one byte each."""
    counts = {}
    for word in text.split():
        if len(word) >= 3:
            counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return ranked[:20]
# EVOLVE-BLOCK-END
