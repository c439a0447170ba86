"""Search over what has been made so far."""

from evolake.search.mcgs import RankedDesign, SearchGraph

__all__ = ["RankedDesign", "SearchGraph"]
