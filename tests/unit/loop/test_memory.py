"""What is remembered is found again, and nothing in a query has a special meaning."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from orrery_interceptors.loop import memory as module
from orrery_interceptors.loop.memory import MemoryStoreError, SqliteMemory

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[True, False], ids=["fts5", "like"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteMemory]:
    memory = SqliteMemory(tmp_path / "memory.sqlite", full_text=request.param)
    yield memory
    memory.close()


async def ids(memory: SqliteMemory, query: str) -> list[str]:
    return [entry["id"] for entry in await memory.recall(query)]


async def test_the_entry_with_most_of_the_query_comes_first(memory: SqliteMemory) -> None:
    await memory.add("We deploy on Fridays from CI", id="deploy")
    await memory.add("The cat is called Friday", id="cat")
    await memory.add("Nothing of the kind", id="other")
    entries = await memory.recall("how do we DEPLOY from ci?")
    assert entries[0]["id"] == "deploy"
    assert entries[0]["text"] == "We deploy on Fridays from CI"
    assert [entry["score"] for entry in entries] == sorted((entry["score"] for entry in entries), reverse=True)
    assert "meta" not in entries[0]


@pytest.mark.parametrize(
    "query",
    ['"', "a OR", "NOT", "x*", "text:deploy", "(deploy", "deploy)", "NEAR(a b)", "^deploy", "-deploy", "a AND NOT b",
     "'; DROP TABLE entries; --", "%", "_", "\\", "\0", "𝔘𝔫𝔦", "?1", ":tag", "{deploy} : x", "deploy + x"],
)  # fmt: skip
async def test_nothing_in_a_query_is_special(memory: SqliteMemory, query: str) -> None:
    await memory.add("deploy on fridays", id="m")
    assert await ids(memory, query) == (["m"] if "deploy" in query else [])
    assert await ids(memory, "fridays") == ["m"]


async def test_a_percent_or_underscore_matches_itself_only(memory: SqliteMemory) -> None:
    await memory.add("snake_case", id="snake")
    await memory.add("snakeXcase", id="other")
    assert await ids(memory, "snake_case") == ["snake"]


async def test_a_query_without_words_recalls_nothing(memory: SqliteMemory) -> None:
    await memory.add("x")
    assert await memory.recall("... !?") == []
    assert await memory.recall("x", limit=0) == []


async def test_what_is_added_twice_is_remembered_once(memory: SqliteMemory) -> None:
    first = await memory.add("the same text")
    assert await memory.add("the same text") == first
    assert await ids(memory, "same") == [first]
    await memory.add("old words", id="m")
    await memory.add("new words", id="m", meta={"n": 2**60 + 1})
    assert await memory.recall("old") == []
    (entry,) = await memory.recall("new")
    assert entry["meta"] == {"n": 2**60 + 1}


async def test_what_is_forgotten_is_not_found(memory: SqliteMemory) -> None:
    await memory.add("secret", id="m")
    assert await memory.forget("m") is True
    assert await memory.forget("m") is False
    assert await memory.recall("secret") == []


async def test_recall_by_tag_and_by_age(memory: SqliteMemory) -> None:
    def day(number: int) -> datetime:
        return datetime(2026, 1, number, tzinfo=UTC)

    await memory.add("note one", id="1", meta={"tags": ["ops", 'a"b']}, at=day(1))
    await memory.add("note two", id="2", meta={"tags": "ops"}, at=day(2))
    await memory.add("note three", id="3", meta={}, at=day(3))
    await memory.add("note four", id="4", meta={"tags": ["opsx"]}, at=day(4))

    async def found(**bounds: object) -> list[str]:
        return [entry["id"] for entry in await memory.recall("note", **bounds)]  # type: ignore[arg-type]

    assert await found() == ["4", "3", "2", "1"]
    assert await found(tag="ops") == ["2", "1"]
    assert await found(tag='a"b') == ["1"]
    assert await found(since=day(2), until=day(3)) == ["3", "2"]
    assert await found(since=day(2), limit=1) == ["4"]


async def test_recall_is_bounded_in_number_and_in_text(memory: SqliteMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        await memory.add(f"word {number}")
    assert len(await memory.recall("word")) == 8
    assert len(await memory.recall("word", limit=15)) == 15
    await memory.add("bulk " + "x" * 900, id="large", at=datetime(2030, 1, 1, tzinfo=UTC))
    await memory.add("bulk small", id="small", at=datetime(2020, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(module, "MAX_RECALLED_BYTES", 500)
    assert await ids(memory, "bulk") == ["small"]


@pytest.mark.parametrize("text", ["", "  ", "x" * (module.MAX_TEXT_BYTES + 1), "a\ud800"])
async def test_what_cannot_be_remembered_is_refused(memory: SqliteMemory, text: str) -> None:
    with pytest.raises(MemoryStoreError):
        await memory.add(text)
    with pytest.raises(MemoryStoreError):
        await memory.add("x", meta={"n": float("nan")})


async def test_the_file_is_private_and_remembers(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.sqlite"
    memory = SqliteMemory(path)
    await memory.add("kept", id="m")
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    other = SqliteMemory(path)
    assert await ids(other, "kept") == ["m"]
    other.close()
    memory.close()
    again = SqliteMemory(path)
    assert await ids(again, "kept") == ["m"]
    again.close()


async def test_a_file_that_is_no_memory_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database, and long enough to be looked at as one")
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE t (x)")
    db.close()
    newer = tmp_path / "newer.sqlite"
    SqliteMemory(newer).close()
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 2")
    db.close()
    (tmp_path / "link").symlink_to(newer)
    for path in (text, other, newer, tmp_path, tmp_path / "link"):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(MemoryStoreError, match=path.name):
            SqliteMemory(path)
        assert (path.read_bytes() if path.is_file() else None) == before


async def test_many_tasks_and_threads_write_at_once(tmp_path: Path) -> None:
    one, other = SqliteMemory(tmp_path / "m"), SqliteMemory(tmp_path / "m")
    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(lambda number=number: (one, other)[number % 2].add(f"word {number}"))
    assert len(await one.recall("word", limit=100)) == 40
    one.close()
    other.close()


async def test_the_event_loop_goes_on_while_memory_waits(tmp_path: Path) -> None:
    memory = SqliteMemory(tmp_path / "m")
    await memory.add("word")
    held = threading.Event()
    assert memory._lock.acquire()
    async with anyio.create_task_group() as tasks:

        async def recall() -> None:
            await memory.recall("word")
            assert held.is_set()

        tasks.start_soon(recall)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        held.set()
        memory._lock.release()
    memory.close()


async def test_memory_without_a_file(tmp_path: Path) -> None:
    memory = SqliteMemory(None)
    await memory.add("word", id="m")
    assert await ids(memory, "word") == ["m"]
    memory.close()
    with pytest.raises(MemoryStoreError):
        await memory.recall("word")
