"""Rules: what is accepted, and what a default does to an input."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery_interceptors.jsontext import check_depth
from orrery_interceptors.rules import Default, Effect, Refuse, apply_default, parse_rules
from orrery_interceptors.validation import Origin

VECTORS = Path(__file__).parents[3] / "shared" / "corpus" / "json" / "rfc6901_vectors.json"
ORIGIN = Origin("acme-guard: register")


def default(pointer: str, value: object = 1, tool: str = "t") -> dict[str, object]:
    return {"t": "default", "tool": tool, "pointer": pointer, "value": value}


def apply(document: object, pointer: str, value: object = 1) -> tuple[object, Effect]:
    (rule,), problems = parse_rules([default(pointer, value)], ORIGIN)
    assert not problems
    before = copy.deepcopy(document)
    applied = apply_default(rule, document)
    assert same(document, before), "the argument was changed"
    if applied.effect is not Effect.SET:
        assert applied.value is document
    assert bool(applied.why) == (applied.effect is Effect.BLOCKED)
    return applied.value, applied.effect


def same(one: object, other: object) -> bool:
    return json.dumps(one) == json.dumps(other)


def test_rules_are_read() -> None:
    rules, problems = parse_rules(
        [
            {"t": "refuse", "tools": ["builtin.write", "mcp__*"], "reason": "read-only session"},
            default("/timeout", None),
        ],
        ORIGIN,
    )
    assert problems == []
    assert rules == [
        Refuse(tools=("builtin.write", "mcp__*"), reason="read-only session"),
        Default(tool="t", pointer="/timeout", value=None),
    ]


@pytest.mark.parametrize(
    ("rule", "key", "what"),
    [
        (3, "rules[0]", "a rule must be an object, not a number"),
        (None, "rules[0]", "a rule must be an object, not null"),
        ({}, "rules[0].t", "is missing"),
        ({"t": "deny"}, "rules[0].t", 'must be "refuse" or "default", not "deny"'),
        ({"t": ["refuse"]}, "rules[0].t", 'must be "refuse" or "default", not ["refuse"]'),
        ({"t": "refuse", "tools": ["a"]}, "rules[0].reason", "is missing"),
        ({"t": "refuse", "tools": ["a"], "reason": "  "}, "rules[0].reason", "must not be empty"),
        ({"t": "refuse", "tools": [], "reason": "r"}, "rules[0].tools", "must not be empty"),
        ({"t": "refuse", "tools": "a", "reason": "r"}, "rules[0].tools", "must be an array, not a string"),
        ({"t": "refuse", "tools": [1], "reason": "r"}, "rules[0].tools[0]", "must be a string, not a number"),
        ({"t": "refuse", "tools": ["a?"], "reason": "r"}, "rules[0].tools[0]", "`*` is the only wildcard"),
        ({"t": "refuse", "tool": "a", "tools": ["a"], "reason": "r"}, "rules[0].tool", "unknown key"),
        (default("", tool=""), "rules[0].tool", "an empty pattern matches nothing"),
        ({"t": "default", "tool": "a", "pointer": "/x"}, "rules[0].value", "is missing"),
        (default("/" + "/".join("a" * 65)), "rules[0].pointer", "a pointer has at most 64 steps, this one 65"),
        (default("/x", float("nan")), "rules[0].value", "must be a finite number"),
        (default("/x", {"a": [10**400]}), "rules[0].value.a[0]", "must be a finite number"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(rule: object, key: str, what: str) -> None:
    rules, (problem,) = parse_rules([rule], ORIGIN)
    assert rules == []
    assert (problem.file, problem.key) == ("acme-guard: register", key)
    assert problem.what.startswith(what)


def test_right_rules_stay_beside_wrong_ones() -> None:
    rules, problems = parse_rules([{"t": "x"}, default("/a"), 4], ORIGIN)
    assert rules == [Default(tool="t", pointer="/a", value=1)]
    assert [problem.key for problem in problems] == ["rules[0].t", "rules[2]"]
    assert parse_rules({"t": "refuse"}, ORIGIN)[1][0].what == "must be an array of rules, not an object"


def test_an_unknown_key_is_answered_with_the_closest() -> None:
    _, (problem, missing) = parse_rules([{"t": "refuse", "tols": ["a"], "reason": "r"}], ORIGIN)[0:2]
    assert {problem.what, missing.what} == {"unknown key", "is missing"}
    fixes = {problem.what: problem.fix, missing.what: missing.fix}
    assert fixes["unknown key"] == "did you mean tools? known here: t, tools, reason"
    assert fixes["is missing"] == 'for example tools = ["builtin.write"]'


@pytest.mark.parametrize(
    "pointer", ["foo", "/~", "/a~", "/~2", "/~~", "/a~/b", " /foo", "#/foo", "./foo", "$.foo", "0/foo", "/\ud800"]
)
def test_what_is_no_pointer_is_refused(pointer: str) -> None:
    rules, (problem,) = parse_rules([default(pointer)], ORIGIN)
    assert rules == []
    assert problem.key == "rules[0].pointer"
    assert "is not a JSON pointer (RFC 6901)" in problem.what or "surrogate" in problem.what
    str(problem).encode()


def test_a_default_that_would_nest_too_deeply_is_refused() -> None:
    value: object = 1
    for _ in range(100):
        value = [value]
    pointer = "/" + "/".join("a" * 26)
    (rule,), problems = parse_rules([default(pointer, value)], ORIGIN)
    assert problems == []
    check_depth(apply_default(rule, {}).value)
    _, (problem,) = parse_rules([default(pointer + "/a" * 6, value)], ORIGIN)
    assert problem.what == "would nest the input deeper than 128 levels"


@pytest.mark.parametrize("present", [None, 0, False, "", [], {}, 5])
def test_what_is_there_is_kept_null_included(present: object) -> None:
    assert apply({"a": {"b": present}}, "/a/b") == ({"a": {"b": present}}, Effect.KEPT)
    assert apply([present], "/0") == ([present], Effect.KEPT)
    assert apply(present, "") == (present, Effect.KEPT)


@pytest.mark.parametrize(
    ("document", "pointer", "expected"),
    [
        ({}, "/a", {"a": 1}),
        ({"b": 2}, "/a", {"b": 2, "a": 1}),
        ({}, "/a/b/c", {"a": {"b": {"c": 1}}}),
        ({"a": {}}, "/a/0/-", {"a": {"0": {"-": 1}}}),
        ({}, "/", {"": 1}),
        ({}, "//", {"": {"": 1}}),
        ({"x/y": {}}, "/x~1y/z", {"x/y": {"z": 1}}),
        ({"m~n": {}}, "/m~0n/~01", {"m~n": {"~1": 1}}),
        ({"a": {"b": 1}}, "/a/B", {"a": {"b": 1, "B": 1}}),
        ({"a": {"e\u0301": 1}}, "/a/\u00e9", {"a": {"e\u0301": 1, "\u00e9": 1}}),
        ({"a": {}}, "/a/__proto__", {"a": {"__proto__": 1}}),
        ({"list": [{"a": 1}, {}]}, "/list/1/a", {"list": [{"a": 1}, {"a": 1}]}),
        ([[{}]], "/0/0/a/b", [[{"a": {"b": 1}}]]),
    ],
)
def test_what_is_left_out_is_filled(document: object, pointer: str, expected: object) -> None:
    value, effect = apply(document, pointer)
    assert same(value, expected)
    assert effect is Effect.SET


@pytest.mark.parametrize("value", [9007199254740993, 1.0, None, {"p": [1]}, ""])
def test_the_value_is_set_as_it_is(value: object) -> None:
    assert same(apply({}, "/a", value)[0], {"a": value})


@pytest.mark.parametrize(
    ("document", "pointer", "why"),
    [
        (None, "/a", "the input is null, not an object"),
        ("text", "/a", "the input is a string, not an object"),
        ({"a": None}, "/a/b", "/a is null, not an object"),
        ({"a": 5}, "/a/b", "/a is a number, not an object"),
        ({"a": {"b~c": True}}, "/a/b~0c/d", "/a/b~0c is a boolean, not an object"),
        ({"a": [1, 2]}, "/a/-", '/a is an array of 2 without an element "-", and arrays are not extended'),
        ({"a": [1, 2]}, "/a/2", '/a is an array of 2 without an element "2", and arrays are not extended'),
        ({"a": [{}]}, "/a/1/b", '/a is an array of 1 without an element "1", and arrays are not extended'),
        ([], "/0", 'the input is an array of 0 without an element "0", and arrays are not extended'),
    ],
)
def test_what_is_in_the_way_stays(document: object, pointer: str, why: str) -> None:
    (rule,), _ = parse_rules([default(pointer)], ORIGIN)
    applied = apply_default(rule, document)
    assert applied.value is document
    assert (applied.effect, applied.why) == (Effect.BLOCKED, why)


@pytest.mark.parametrize(
    "token",
    ["01", "00", "+1", "-1", "1.0", "1e0", " 1", "1 ", "", "k", "١", "１", "0x1", "1_0", "9" * 5000, "4294967296"],
)
def test_what_is_no_index_is_none(token: str) -> None:
    assert apply([{}, {}, {}], f"/{token}/a")[1] is Effect.BLOCKED


def test_only_what_is_on_the_way_is_copied() -> None:
    document = {"aside": {"x": 1}, "list": [{"y": 1}, {"z": {}}]}
    (rule,), _ = parse_rules([default("/list/1/z/w")], ORIGIN)
    value = apply_default(rule, document).value
    assert value["aside"] is document["aside"]
    assert value["list"][0] is document["list"][0]
    assert value["list"][1] is not document["list"][1]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("ab01-~/", max_size=2), below, max_size=3),
    max_leaves=8,
)
pointers = st.lists(st.sampled_from(["", "a", "b", "0", "1", "-", "~0", "~1"]), max_size=4).map(
    lambda steps: "".join(f"/{step}" for step in steps)
)


@given(json_values, pointers)
def test_a_default_applied_twice_is_applied_once(document: object, pointer: str) -> None:
    value, effect = apply(document, pointer)
    again, second = apply(value, pointer)
    assert again is value
    assert second is (Effect.KEPT if effect is Effect.SET else effect)


@given(
    json_values
    | st.lists(
        st.fixed_dictionaries(
            {"t": st.sampled_from(["refuse", "default"])},
            optional={
                name: json_values | st.lists(st.text(max_size=3))
                for name in ("tools", "reason", "tool", "pointer", "value", "x")
            },
        )
    )
)
def test_any_value_gives_rules_or_problems(values: object) -> None:
    rules, problems = parse_rules(values, ORIGIN)
    assert problems or len(rules) == len(values)
    for problem in problems:
        assert "Input should" not in str(problem)
        assert problem.what != "is not valid here"


@pytest.mark.skipif(not VECTORS.exists(), reason="the corpus is not here")
def test_the_corpus() -> None:
    corpus = json.loads(VECTORS.read_text("utf-8"))
    for case in corpus["vectors"]:
        rules, problems = parse_rules([default(case["pointer"], "DEFAULT")], ORIGIN)
        if case["expect"] == "invalid-pointer":
            assert not rules and problems, case["id"]
            continue
        applied = apply_default(rules[0], case["doc"])
        assert (applied.effect is Effect.KEPT) == (case["expect"] == "value"), case["id"]
    for case in corpus["official"]["string_form"]:
        assert apply(corpus["official"]["document"], case["pointer"])[1] is Effect.KEPT
    for case in corpus["default_rule_vectors"]:
        value, effect = apply(case["doc"], case["pointer"], case["value"])
        match case["outcome"]:
            case "set":
                assert effect is Effect.SET and same(value, case["expected"]), case["id"]
            case "keep":
                assert effect is Effect.KEPT and same(value, case["expected"]), case["id"]
            case "error":
                assert effect is Effect.BLOCKED, case["id"]
            case "policy":
                # Missing parents are created; whatever else is in the way stays.
                assert effect is (Effect.SET if case["doc"] == {} else Effect.BLOCKED), case["id"]
