"""Which server gets a request."""


# EVOLVE-BLOCK-START
def choose(number, kind, queues, speeds, kinds):
    """Return the server for the request of this number: queues are the requests at each, kinds that of its newest one."""
    server = number % 5
    if queues[server] > 6:
        server = (server + 1) % 5
    return server
# EVOLVE-BLOCK-END
