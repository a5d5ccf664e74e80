"""Digests are over deterministic CBOR. The vectors are facts of RFC 8949, appendix A."""

import hashlib
import json
from pathlib import Path

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery_interceptors.digests import deterministic, extension_digest, file_digest, payload_digest
from orrery_interceptors.jsontext import JsonError

VECTORS = Path(__file__).parents[3] / "shared" / "corpus" / "json" / "cbor_vectors.json"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (23, "17"),
        (24, "1818"),
        (1000000000000, "1b000000e8d4a51000"),
        (18446744073709551615, "1bffffffffffffffff"),
        (18446744073709551616, "c249010000000000000000"),
        (-18446744073709551617, "c349010000000000000000"),
        (-1000, "3903e7"),
        (0.0, "f90000"),
        (-0.0, "f98000"),
        (1.0, "f93c00"),
        (1.1, "fb3ff199999999999a"),
        (65504.0, "f97bff"),
        (100000.0, "fa47c35000"),
        (5.960464477539063e-08, "f90001"),
        (False, "f4"),
        (None, "f6"),
        ("\u00fc", "62c3bc"),
        ("\U00010151", "64f0908591"),
        ([1, [2, 3], [4, 5]], "8301820203820405"),
        ({"a": 1, "b": [2, 3]}, "a26161016162820203"),
    ],
)
def test_the_encoding_is_deterministic(value: object, encoded: str) -> None:
    assert deterministic(value).hex() == encoded
    assert payload_digest(value) == "sha256:" + hashlib.sha256(bytes.fromhex(encoded)).hexdigest()


def test_members_are_sorted_by_their_encoded_names() -> None:
    assert deterministic({"bb": 1, "a": 2, "": 3, "\u00e9": 4}).hex() == "a46003616102626262 01 62c3a904".replace(
        " ", ""
    )


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_order_of_members_does_not_matter(value: dict[str, object]) -> None:
    assert payload_digest(value) == payload_digest(dict(reversed(value.items())))
    names = [cbor2.dumps(name) for name in cbor2.loads(deterministic(value))]
    assert names == sorted(names)


def test_numbers_of_two_kinds_and_absence_are_told_apart() -> None:
    assert len({payload_digest(value) for value in (1, 1.0, "1", [1], {"a": None}, {}, [], None, False, 0, -0.0)}) == 11
    assert payload_digest({"n": 9007199254740993}) != payload_digest({"n": 9007199254740992})


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], {"a": "\ud800"}, {"\ud800": 1}, object(), b"a", {1, 2}]
)
def test_what_is_no_json_value_has_no_digest(value: object) -> None:
    with pytest.raises(JsonError):
        payload_digest(value)


def test_what_is_too_deep_has_no_digest() -> None:
    value: object = 1
    for _ in range(10_000):
        value = [value]
    with pytest.raises(JsonError, match="depth limit"):
        payload_digest(value)


def test_an_extensions_digest_is_over_both_files() -> None:
    manifest, component = hashlib.sha256(b"m").digest(), hashlib.sha256(b"c").digest()
    encoded = b"\xa2\x68manifest\x58\x20" + manifest + b"\x69component\x58\x20" + component
    assert extension_digest(b"m", b"c") == "sha256:" + hashlib.sha256(encoded).hexdigest()
    encoded = b"\xa2\x68manifest\x58\x20" + manifest + b"\x69component\xf6"
    assert extension_digest(b"m", None) == "sha256:" + hashlib.sha256(encoded).hexdigest()
    digests = {
        extension_digest(*pair) for pair in ((b"m", b"c"), (b"m", None), (b"m", b""), (b"mc", b""), (b"", b"mc"))
    }
    assert len(digests) == 5


def test_a_files_digest_is_over_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert file_digest(path) == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(OSError, match="none"):
        file_digest(tmp_path / "none")


@pytest.mark.skipif(not VECTORS.exists(), reason="the corpus is not here")
def test_the_corpus() -> None:
    cases = [case for case in json.loads(VECTORS.read_text("utf-8"))["appendix_a"] if case["json_representable"]]
    assert len(cases) > 40
    for case in cases:
        encoded = deterministic(case["decoded"]).hex()
        assert (encoded == case["hex"]) == case["canonical"], case["id"]
