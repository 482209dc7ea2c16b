"""Answers to scrapes: the type of the text, and a body that is packed at most once."""

import zlib

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from extender.http.scraping import scrape_handler, takes_gzip
from extender.telemetry.exposition import packed

TEXT = b"# TYPE paddock_pods gauge\npaddock_pods 3\n" * 100


class Fixed:
    """A text of metrics that is always the same."""

    def __init__(self, text: bytes = b"") -> None:
        self.plain = text

    async def text(self, *, gzipped: bool) -> bytes:
        return packed([self.plain]) if gzipped else self.plain


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        pytest.param([], False, id="nothing said"),
        pytest.param(["gzip"], True, id="gzip"),
        pytest.param(["deflate, GZip;q=0.5"], True, id="in any case and with a weight"),
        pytest.param(["deflate", "gzip"], True, id="in a second header"),
        pytest.param(["gzip;q=0"], False, id="refused"),
        pytest.param(["gzip; q=0.000"], False, id="refused in more digits"),
        pytest.param(["gzip;q=much"], True, id="a weight that is no number"),
        pytest.param(["identity, deflate"], False, id="others only"),
        pytest.param(["gzipped"], False, id="another name"),
    ],
)
@pytest.mark.rule("REST-23")
def test_which_clients_take_gzip(accepted: list[str], takes: bool) -> None:
    assert takes_gzip(accepted) is takes


@pytest.mark.rule("REST-16", "REST-23")
@pytest.mark.parametrize("gzipped", [True, False])
async def test_a_packed_text_decodes_once(gzipped: bool) -> None:
    """YuniKorn packs twice under one header, and Prometheus cannot read it."""
    app = web.Application()
    app.router.add_get("/ws/v1/metrics", scrape_handler(Fixed(TEXT)))
    client = aiohttp.ClientSession(auto_decompress=False)
    async with TestClient(TestServer(app)) as server, client:
        headers = {"Accept-Encoding": "gzip" if gzipped else "identity"}
        async with client.get(server.make_url("/ws/v1/metrics"), headers=headers) as response:
            body, answered = await response.read(), response.headers
    assert answered["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "Access-Control-Allow-Origin" not in answered
    if gzipped:
        assert answered["Content-Encoding"] == "gzip"
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        assert (unpacker.decompress(body), unpacker.eof, unpacker.unused_data) == (TEXT, True, b"")
    else:
        assert ("Content-Encoding" in answered, body) == (False, TEXT)
