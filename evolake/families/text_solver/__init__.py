"""A second route from a question's text to its answer, which knows nothing but the text.

`solve` reads a text sentence by sentence into a meaning and computes the answer from it; `check`
judges an answer by the text alone. What no pattern matches makes the whole text `Unread`: nothing
is guessed or passed over. Patterns are tables (*.toml), meanings are small functions. Written from
texts only: it shares no program, no table and no word list with the engines that write them, and
imports nothing of them, so that a fault of an author is not repeated here.
"""

from evolake.families.text_solver.answers import Answer, Right, Unread, Void, Wrong, check, solve

__all__ = ["Answer", "Right", "Unread", "Void", "Wrong", "check", "solve"]
