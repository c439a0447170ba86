"""Search over what has been made so far."""

from evolake.search.mcgs import Candidate, SearchGraph

__all__ = ["Candidate", "SearchGraph"]
