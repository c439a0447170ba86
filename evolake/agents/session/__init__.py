"""Sessions: a role that is a loop of tool calls on a workspace in the jail, under a budget, cached turn by
turn.

    ended = agents.session(CODER_SESSION, request, context, seed=seed)     # ended.value: the role's `finish`
                                                                         model, or an AgentFailure
    context.workspace.changed                                              # what the files have become

`role` declares a role that is a session, and `agents.session_spec` one session of a line. `agents.wire` says
what a turn is and how it travels; `workspace` holds the files and guards them; `tools` runs what a turn
calls; `conduct` is the loop; `records` stores what commands returned, so that a session that is replayed or
continues after a kill reads the same bytes; `rows` makes its table.
"""
