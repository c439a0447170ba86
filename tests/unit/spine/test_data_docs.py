"""Data Docs: a site for each cycle, made when it is asked for and again when its tables have changed."""

import re
import threading
import urllib.error
import urllib.request

import polars as pl
import pytest

from assets.checks import suites_of
from assets.line import Line
from assets.predicates import rows_check
from evolake.lake import Lake, TableSchema
from pipelines import data_docs

TOY = TableSchema(
    "toys",
    1,
    {"toy_id": (pl.String, "Toy."), "cycle": pl.String, "size": (pl.Int64, "Its size.")},
    keys=("toy_id",),
    rows=("count(*) OVER (PARTITION BY toy_id) = 1", "size BETWEEN 1 AND 10"),
)
line = Line("toyshop", "Toys.")


@line.asset(schema=TOY)
def toys() -> pl.DataFrame: ...


CHECK = rows_check(toys, "toys_are_toys", "Each toy once, of a size of 1 to 10.")


def put(lake: Lake, size: int) -> None:
    frame = TOY.frame([{"toy_id": "ball", "cycle": "0001", "size": size}])
    lake.publish("toyshop", "toys", frame, cycle="0001", run_id="r", schema=TOY)


@pytest.fixture
def served(tmp_path, monkeypatch):
    """(a lake with a cycle of toys, the address that its Data Docs are served at)."""
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "sites"
    put(lake, 3)
    monkeypatch.setattr(data_docs, "_suites", lambda: {"toyshop": suites_of([CHECK])})
    server = data_docs.serve(data_docs.Sites(folder, lake), folder, port=0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield lake, f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def get(url: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
        return answer.read().decode()


def test_a_schema_declares_what_its_check_expects():
    [suite] = suites_of([CHECK])
    assert (suite.asset, suite.name, suite.predicates) == (("toyshop", "toys"), "toys_are_toys", TOY.rows)
    with pytest.raises(ValueError, match="expects nothing"):
        rows_check(toys_without_rows, "nothing", "Nothing.")


@line.asset()
def toys_without_rows() -> pl.DataFrame: ...


def test_a_cycle_has_a_site_that_shows_what_was_expected_and_found(served):
    lake, address = served
    [place] = re.findall(r'href="(validations/[^"]+)"', index := get(f"{address}/toyshop/0001/index.html"))
    assert "toys_are_toys" in index and "<td>passed" in index and "Each toy once" in index
    page = get(f"{address}/toyshop/0001/{place}")
    assert "Succeeded" in page and "greater than or equal to" in page
    assert re.findall(r"<(?:script|link|img)[^>]+https?:", page) == [], "it loads nothing from elsewhere"
    put(lake, 30)
    again = get(f"{address}/toyshop/0001/index.html")
    [place] = re.findall(r'href="(validations/[^"]+)"', again)
    assert "failed" in again and "Failed" in get(f"{address}/toyshop/0001/{place}")


@pytest.mark.parametrize("path", ["/toyshop/0002/index.html", "/other/0001/", "/toyshop/x/", "/toyshop"])
def test_what_has_no_site_is_not_found(served, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(served[1] + path)
    assert refused.value.code == 404


def test_a_page_of_another_site_gets_no_answer(served):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(f"{served[1]}/", Host="example.org")
    assert refused.value.code == 403
