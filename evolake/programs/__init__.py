"""Programs of the user's own, evolved against an evaluator of the user's own. A project is a folder
(docs/programs.md)."""
