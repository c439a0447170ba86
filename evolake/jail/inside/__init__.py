"""What runs inside the jail: the fork server, the candidate's process, and the filter that confines it.
Standard library only."""
