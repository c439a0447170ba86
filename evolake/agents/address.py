"""The address of an endpoint as it is kept and shown: one spelling for one place, and nothing in it that is
secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from evolake.errors import InputError

_PORTS = {"http": 80, "https": 443}


def address(base_url: str) -> str:
    """Return the base URL without user, password, query, fragment, default port and closing slash, its host
    in lower case; "" for "".

    Raises:
        InputError: this is no web address.

    >>> address("HTTPS://key:secret@Models.Example:443/v1/?token=secret")
    'https://models.example/v1'
    """
    if not base_url:
        return ""
    try:
        parts = urlsplit(base_url.strip())
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        scheme, host, port, parts = "", "", None, urlsplit("")
    if scheme not in _PORTS or not host:
        raise InputError(
            "EVOLAKE_MODEL_BASE_URL is no web address",
            wanted="http:// or https:// and a host, e.g. http://localhost:8000/v1",
            got=repr(base_url.rpartition("@")[2][:80]),
            do="set it to the address that the server's documentation calls its base URL",
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{'' if port in (None, _PORTS[scheme]) else f':{port}'}{parts.path.rstrip('/')}"
