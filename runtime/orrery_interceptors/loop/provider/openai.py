"""A model behind an OpenAI-compatible endpoint, `POST …/chat/completions`."""

from __future__ import annotations

import email.utils
import re
import time
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self

import anyio
import httpx

from ...errors import ProviderError
from ...jsontext import JsonError, dumps
from ...reasons import clean, cut
from .base import Request, Response
from .sse import EventReader
from .toolnames import ToolNames
from .wire import StreamedAnswer, names_of, read_answer, request_body

MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_WAIT_SECONDS = 30.0
"""The longest wait before another try, whatever the endpoint asks for."""

_MAX_SHOWN_BYTES = 500
_KEY = re.compile(r"[!-~]+")


class OpenAIProvider:
    """Asks an endpoint, over one pool of connections. Close it, or use it with `async with`.

    An answer of 429 or 5xx, and a connection that is not made, are tried again after a wait; an answer that began is
    not. Messages of errors never hold the API key.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        stream: bool = False,
        timeout_seconds: float = 120.0,
        retries: int = 2,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """`base_url` is what `/chat/completions` is added to, such as `http://localhost:8080/v1`. `timeout_seconds`
        bounds one try, from the connection to the last byte. Raises `ProviderError` for a URL or a key that is none."""
        try:
            urllib.parse.urlsplit(base_url)
            url = httpx.URL(base_url)
        except (ValueError, httpx.InvalidURL):
            url = httpx.URL()
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise ProviderError("the base URL must begin with http:// or https:// and a host, without a user or a key")
        if api_key is not None and not _KEY.fullmatch(api_key):
            raise ProviderError("the API key has characters that no key has; look for a line end or a space in it")
        self._url = url.copy_with(raw_path=url.raw_path.partition(b"?")[0].rstrip(b"/") + b"/chat/completions")
        self._key = api_key
        self._stream = stream
        self._timeout = timeout_seconds
        self._retries = retries
        self._sleep = sleep
        self._client = httpx.AsyncClient(timeout=None)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.aclose()

    async def complete(self, request: Request) -> Response:
        """Ask. Raises `ProviderError`."""
        names = names_of(request)
        try:
            body = dumps(request_body(request, names, stream=self._stream)).encode()
        except JsonError as error:
            raise ProviderError(f"the request cannot be written: {error}") from None
        for attempt in range(self._retries + 1):
            try:
                return await self._try(body, names)
            except _RetryError as again:
                if attempt == self._retries:
                    raise again.error from None
                await self._sleep(again.wait if again.wait is not None else 0.5 * 2**attempt)
        raise AssertionError("the last try returns or raises")

    async def _try(self, body: bytes, names: ToolNames) -> Response:
        headers = {"content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            with anyio.fail_after(self._timeout):
                async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
                    if response.status_code != 200:
                        raise await self._bad_status(response)
                    if response.headers.get("content-type", "").startswith("text/event-stream"):
                        return await self._read_stream(response, names)
                    return read_answer(await self._read(response, MAX_ANSWER_BYTES), names)
        except TimeoutError:
            raise ProviderError(f"no answer from {self._where} within {self._timeout:g} seconds") from None
        except httpx.ConnectError as error:
            raise _RetryError(ProviderError(self._hide(f"{self._where} cannot be reached: {error}"))) from None
        except httpx.HTTPError as error:
            what = str(error) or type(error).__name__
            raise ProviderError(self._hide(f"the connection to {self._where} failed: {what}")) from None
        except ProviderError as error:
            raise ProviderError(self._hide(str(error)), error.status) from None

    async def _read(self, response: httpx.Response, limit: int) -> bytes:
        data = bytearray()
        async with _chunks(response) as chunks:
            async for chunk in chunks:
                data += chunk
                if len(data) > limit:
                    raise ProviderError(f"the answer is larger than {limit} bytes")
        return bytes(data)

    async def _read_stream(self, response: httpx.Response, names: ToolNames) -> Response:
        answer, events, size = StreamedAnswer(names), EventReader(), 0
        async with _chunks(response) as chunks:
            async for chunk in chunks:
                if (size := size + len(chunk)) > MAX_ANSWER_BYTES:
                    raise ProviderError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
                for data in events.feed(chunk):
                    if not answer.take(data):
                        return answer.response()
        for data in events.end():
            if not answer.take(data):
                break
        return answer.response()

    async def _bad_status(self, response: httpx.Response) -> Exception:
        """The error of a status that is not 200, to be tried again or not."""
        status = response.status_code
        try:
            text = (await self._read(response, 64 * 1024)).decode("utf-8", "replace")
        except ProviderError:
            text = "(a long answer)"
        error = ProviderError(self._hide(f"{self._where} answered {status}: {text or 'nothing'}"), status)
        if status == 429 or status >= 500:
            return _RetryError(error, _retry_after(response.headers.get("retry-after")))
        return error

    @property
    def _where(self) -> str:
        return self._url.netloc.decode()

    def _hide(self, text: str) -> str:
        """What an endpoint said, without the key that it may have quoted, fit to be shown."""
        return cut(clean(text.replace(self._key, "[key]") if self._key else text), _MAX_SHOWN_BYTES)


@asynccontextmanager
async def _chunks(response: httpx.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The body of an answer, which need not be read to its end.

    httpx reads through generators within generators and leaves those that are not read to their end to the garbage
    collector, which trio rightly complains of. Cancelling them in mid-read ends them all, from the innermost.
    """
    chunks = response.aiter_bytes()
    try:
        yield chunks
    finally:
        with anyio.CancelScope() as scope, suppress(httpx.HTTPError, httpx.StreamError):
            scope.cancel()
            async for _ in chunks:
                pass


class _RetryError(Exception):
    def __init__(self, error: ProviderError, wait: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.wait = wait


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, as `Retry-After` says (RFC 9110 section 10.2.3), within bounds."""
    if value is None:
        return None
    if value.strip().isdecimal():
        wait = float(value)
    else:
        try:
            wait = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(wait, 0.0), MAX_WAIT_SECONDS)
