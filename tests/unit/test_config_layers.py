"""The layers of the config: which file wins, what a lock does, and where each value came from."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orrery_interceptors.config import KEYS, Config, Layer, LoadedConfig, Places, files, find_project, load_config
from orrery_interceptors.errors import ConfigError, Problem


class Machine:
    """A project in a folder of its own, with a place for every layer's file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "space" / "between" / "project"
        self.project.mkdir(parents=True)
        self.places = Places(
            root / "user" / "config.toml", root / "org" / "config.toml", root / "managed" / "config.toml"
        )
        self.paths = {
            Layer.PROJECT: self.project / ".orrery" / "config.toml",
            Layer.WORKSPACE: root / "space" / ".orrery" / "config.toml",
            Layer.USER: self.places.user,
            Layer.ORG: self.places.org,
            Layer.MANAGED: self.places.managed,
        }

    def write(self, layer: str, text: str) -> Path:
        path = self.paths[Layer(layer)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(("workspace = true\n" if layer == "workspace" else "") + text, "utf-8")
        return path

    def load(self) -> LoadedConfig:
        return load_config(self.project, self.places)

    def problems(self) -> list[Problem]:
        with pytest.raises(ConfigError) as caught:
            self.load()
        return list(caught.value.problems)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


def test_without_files_the_defaults_hold(machine: Machine) -> None:
    loaded = machine.load()
    assert loaded.config == Config()
    assert (loaded.files, loaded.warnings) == ((), ())
    assert {str(source) for source in loaded.sources.values()} == {"default"}
    assert tuple(loaded.sources) == KEYS
    assert loaded.audit_path == machine.project / ".orrery" / "audit.jsonl"
    assert loaded.memory_path == machine.project / ".orrery" / "memory.sqlite"


def test_the_defaults_are_the_designs() -> None:
    assert Config().values() == {
        "deadlines.gateMs": 250,
        "deadlines.rewriteMs": 250,
        "deadlines.registerMs": 1000,
        "limits.fuel": 1_000_000_000,
        "limits.memoryMiB": 64,
        "limits.outputKiB": 1024,
        "limits.payloadKiB": 8192,
        "limits.interceptorsPerPhase": 8,
        "limits.inFlight": 16,
        "limits.logLines": 64,
        "limits.compileSeconds": 60,
        "limits.compileMiB": 2048,
        "audit.path": ".orrery/audit.jsonl",
        "audit.sync": "batch",
        "policy.default": "allow",
        "policy.allow": [],
        "policy.deny": [],
        "provider.kind": "scripted",
        "provider.baseUrl": None,
        "provider.model": None,
        "provider.apiKeyEnv": "OPENAI_API_KEY",
        "provider.stream": False,
        "provider.timeoutSeconds": 120.0,
        "provider.options": {},
        "memory.path": ".orrery/memory.sqlite",
        "memory.recallLimit": 8,
        "tools.timeoutMs": 60_000,
        "tools.outputKiB": 256,
        "tools.env": ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR"],
        "context.budgetTokens": None,
        "budget.passes": 50,
        "budget.calls": 200,
        "budget.seconds": None,
        "budget.tokens": None,
        "log.level": "info",
    }


def test_the_closer_file_wins_key_by_key(machine: Machine) -> None:
    layers = list(Layer)
    tables = [
        "deadlines.gateMs",
        "deadlines.rewriteMs",
        "deadlines.registerMs",
        "limits.fuel",
        "limits.inFlight",
    ]
    # The first key is set in every layer, the second in all but the closest, and so on.
    paths = [
        machine.write(layer, "".join(f"{key} = {index + 1}\n" for key in tables[: index + 1]))
        for index, layer in enumerate(layers)
    ]
    loaded = machine.load()
    values = loaded.config.values()
    for index, key in enumerate(tables):
        assert values[key] == index + 1
        assert (loaded.sources[key].layer, loaded.sources[key].file) == (layers[index], paths[index])
    assert [file.layer for file in loaded.files] == layers
    assert loaded.sources["deadlines.gateMs"].line == 1
    assert str(loaded.sources["deadlines.rewriteMs"]) == f"{paths[1]}:3"


def test_a_key_set_to_its_default_still_wins(machine: Machine) -> None:
    machine.write("user", "limits.fuel = 5\n")
    path = machine.write("project", "[limits]\nfuel = 1_000_000_000\n")
    loaded = machine.load()
    assert loaded.config.limits.fuel == 1_000_000_000
    assert str(loaded.sources["limits.fuel"]) == f"{path}:2"


def test_lists_and_free_tables_are_replaced_whole(machine: Machine) -> None:
    machine.write(
        "user",
        '[policy]\ndeny = ["a", "b"]\nallow = ["x"]\n[tools]\nenv = ["A"]\n[provider.options]\ntop_p = 1\nseed = 3\n',
    )
    machine.write("project", '[policy]\ndeny = ["c"]\n[tools]\nenv = []\n[provider.options]\nseed = 4\n')
    config = machine.load().config
    assert (config.policy.deny, config.policy.allow) == (("c",), ("x",))
    assert config.tools.env == ()
    assert config.provider.options == {"seed": 4}


def test_extensions_of_all_layers_are_kept_closest_first(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    machine.write("managed", '[[extensions]]\npath = "/opt/guard"\n')
    machine.write("user", '[[extensions]]\npath = "mine"\nsettings = {a = 1}\n[[extensions]]\npath = "~/yours"\n')
    machine.write("workspace", '[[extensions]]\npath = "shared"\noptional = true\n')
    machine.write("project", '[[extensions]]\npath = "./ext/one"\nenabled = false\n[[extensions]]\npath = "../two"\n')
    found = machine.load().config.extensions
    assert [(extension.layer, extension.path, extension.line) for extension in found] == [
        ("project", machine.project / "ext" / "one", 1),
        ("project", machine.project / "../two", 4),
        ("workspace", machine.root / "space" / "shared", 2),
        ("user", machine.root / "user" / "mine", 1),
        ("user", Path("/home/someone/yours"), 4),
        ("managed", Path("/opt/guard"), 1),
    ]
    assert [extension.enabled for extension in found] == [False, True, True, True, True, True]
    assert [extension.optional for extension in found] == [False, False, True, False, False, False]
    assert [extension.settings for extension in found] == [{}, {}, {}, {"a": 1}, {}, {}]
    assert found[0].declared == "./ext/one"
    assert found[0].lock_file == machine.project / ".orrery" / "lock.toml"
    assert found[3].lock_file == machine.root / "user" / "lock.toml"


def test_paths_of_audit_and_memory_are_the_projects(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    machine.write("user", '[audit]\npath = "logs/a.jsonl"\n[memory]\npath = "~/m.sqlite"\n')
    loaded = machine.load()
    assert loaded.audit_path == machine.project / "logs" / "a.jsonl"
    assert loaded.memory_path == Path("/home/someone/m.sqlite")


def test_a_locked_key_is_the_managed_files(machine: Machine) -> None:
    project = machine.write("project", "[limits]\nfuel = 1\ninFlight = 2\n")
    user = machine.write("user", "limits.fuel = 3\n")
    managed = machine.write("managed", 'locked = ["limits.fuel"]\n[limits]\nfuel = 4\ninFlight = 5\n')
    loaded = machine.load()
    assert (loaded.config.limits.fuel, loaded.config.limits.in_flight) == (4, 2)
    source = loaded.sources["limits.fuel"]
    assert (source.layer, source.line, source.locked_by) == (Layer.MANAGED, 3, managed)
    assert str(source) == f"{managed}:3 (locked by {managed})"
    assert [(warning.file, warning.line, warning.key) for warning in loaded.warnings] == [
        (project, 2, "limits.fuel"),
        (user, 1, "limits.fuel"),
    ]
    assert all(str(managed) in warning.what for warning in loaded.warnings)


def test_a_locked_key_that_nobody_sets_keeps_its_default(machine: Machine) -> None:
    machine.write("project", '[policy]\ndefault = "deny"\nallow = ["a"]\n')
    managed = machine.write("managed", 'locked = ["policy"]\n[policy]\ndeny = ["b"]\n')
    loaded = machine.load()
    assert loaded.config.policy.model_dump() == {"default": "allow", "allow": (), "deny": ("b",)}
    assert str(loaded.sources["policy.default"]) == f"default (locked by {managed})"
    assert [warning.key for warning in loaded.warnings] == ["policy.default", "policy.allow"]


def test_locked_extensions_are_the_managed_ones(machine: Machine) -> None:
    for layer in ("project", "workspace", "user", "org"):
        machine.write(layer, '[[extensions]]\npath = "a"\n[[extensions]]\npath = "b"\n')
    machine.write("managed", 'locked = ["extensions"]\n[[extensions]]\npath = "c"\n')
    loaded = machine.load()
    assert [extension.layer for extension in loaded.config.extensions] == ["managed"]
    assert [warning.file for warning in loaded.warnings] == [
        machine.paths[layer] for layer in (Layer.PROJECT, Layer.WORKSPACE, Layer.USER, Layer.ORG)
    ]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("limits.fule", "did you mean limits.fuel?"),
        ("polcy", "did you mean policy?"),
        ("provider.options.seed", "did you mean provider.options?"),
        ("workspace", None),
        ("locked", None),
        ("", None),
    ],
)
def test_only_keys_that_exist_can_be_locked(machine: Machine, name: str, fix: str | None) -> None:
    path = machine.write("managed", f'locked = [\n  "policy",\n  "{name}",\n]\n')
    (problem,) = machine.problems()
    assert (problem.file, problem.line, problem.key) == (path, 3, "locked[1]")
    assert problem.what == "there is no such key to lock"
    assert fix is None or problem.fix == fix


@pytest.mark.parametrize("layer", ["project", "workspace", "user", "org"])
def test_only_the_managed_file_locks(machine: Machine, layer: str) -> None:
    path = machine.write(layer, "locked = []\n")
    (problem,) = machine.problems()
    assert (problem.file, problem.key) == (path, "locked")
    assert problem.what == f"has no meaning in the {layer} file"


@pytest.mark.parametrize("layer", ["user", "org", "managed"])
def test_only_folders_are_workspaces(machine: Machine, layer: str) -> None:
    machine.write(layer, "workspace = true\n")
    (problem,) = machine.problems()
    assert problem.what == f"has no meaning in the {layer} file"


def test_the_nearest_marked_parent_is_the_workspace(machine: Machine) -> None:
    far = machine.root / ".orrery" / "config.toml"
    near = machine.project.parent / ".orrery" / "config.toml"
    for path, text in (
        (far, "workspace = true\nlimits.fuel = 1\n"),
        (near, "workspace = false\nlimits.fuel = 2\nnonsense = 1\n"),
    ):
        path.parent.mkdir()
        path.write_text(text)
    machine.write("project", "workspace = true\n")
    assert machine.load().config.limits.fuel == 1
    machine.write("workspace", "limits.fuel = 3\n")
    assert machine.load().config.limits.fuel == 3
    near.write_text("workspace = true\nlimits.fuel = 2\n")
    assert machine.load().config.limits.fuel == 2


def test_a_parent_that_may_be_the_workspace_is_not_passed_over(machine: Machine) -> None:
    machine.write("workspace", "limits.fuel = 3\n")
    near = machine.project.parent / ".orrery" / "config.toml"
    near.parent.mkdir()
    near.write_text("workspace = tru\n")
    (problem,) = machine.problems()
    assert (problem.file, problem.line) == (near, 1)
    near.write_text('workspace = "true"\n')
    (problem,) = machine.problems()
    assert (problem.key, problem.what) == ("workspace", "must be true or false")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_workspace_of_another_user_is_refused(machine: Machine) -> None:
    path = machine.write("workspace", "")
    os.chown(path, 4711, -1)
    (problem,) = machine.problems()
    assert problem.what == "this workspace belongs to another user (4711)"
    os.chown(machine.project, 4711, -1)
    assert [file.layer for file in machine.load().files] == ["workspace"]


def test_all_problems_of_all_files_are_said(machine: Machine) -> None:
    paths = [
        machine.write("project", "[limits]\nfuel = 0\nfule = 1\n"),
        machine.write("user", '[policy]\ndeny = "a"\n[[extensions]]\noptional = true\n'),
        machine.write("managed", 'locked = ["x"]\n[deadlines]\ngateMs = 0\n'),
    ]
    assert [(problem.file, problem.line, problem.key, problem.what) for problem in machine.problems()] == [
        (paths[0], 2, "limits.fuel", "must be between 1 and 1000000000000000, not 0"),
        (paths[0], 3, "limits.fule", "unknown key"),
        (paths[1], 2, "policy.deny", "must be an array, not a string"),
        (paths[1], 3, "extensions[0].path", "is missing"),
        (paths[2], 1, "locked[0]", "there is no such key to lock"),
        (paths[2], 3, "deadlines.gateMs", "must be between 1 and 600000, not 0"),
    ]


@pytest.mark.parametrize("layer", list(Layer))
def test_a_broken_file_is_never_passed_over(machine: Machine, layer: Layer) -> None:
    for other in Layer:
        machine.write(other, "limits.fuel = 3\n")
    path = machine.write(layer, "limits.fuel = \n")
    (problem,) = machine.problems()
    assert problem.file == path
    assert problem.what.startswith("not TOML")


def test_what_is_there_and_no_file_is_said(machine: Machine) -> None:
    machine.places.user.mkdir(parents=True)
    machine.places.org.parent.mkdir()
    machine.places.org.symlink_to("nowhere.toml")
    assert [(problem.file, problem.what) for problem in machine.problems()] == [
        (machine.places.user, "is a folder"),
        (machine.places.org, "there is no such file"),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("deadlines.gateMs = 0", "must be between 1 and 600000, not 0"),
        ("deadlines.gateMs = -5", "must be between 1 and 600000, not -5"),
        ("deadlines.gateMs = 250.0", "must be a whole number, not 250.0"),
        ("limits.memoryMiB = 10_485_760", "must be between 1 and 4096, not 10485760"),
        ("limits.logLines = -1", "must be between 0 and 100000, not -1"),
        (
            "limits.fuel = 9_999_999_999_999_999_999_999",
            "must be between 1 and 1000000000000000, not 9999999999999999999999",
        ),
        ("limits.inFlight = true", "must be a whole number, not a boolean"),
        ("budget.seconds = 0", "must be between 0.001 and 31536000, not 0"),
        ("budget.seconds = inf", "must be a finite number that a double can hold"),
        ('audit.sync = "never"', 'must be "batch" or "decision", not "never"'),
        ('audit.path = ""', "must be a path: not empty, and without control characters"),
        ('audit.path = "a\\u0000"', "must be a path: not empty, and without control characters"),
        ('audit.path = "~nobody-of-that-name/x"', "starts with ~, and there is no such home folder"),
        ('policy.default = "ask"', 'must be "allow" or "deny", not "ask"'),
        ('provider.baseUrl = "example"', "must be a URL that starts with http:// or https://"),
        ('provider.baseUrl = "file:///etc"', "must be a URL that starts with http:// or https://"),
        ('provider.baseUrl = "http://[::1"', "must be a URL that starts with http:// or https://"),
        ('provider.baseUrl = "https://key@host"', "must not hold a user name or a password"),
        ('provider.apiKeyEnv = "sk-12345"', "must be the name of an environment variable, such as PATH"),
        (
            "provider.options.since = 2020-01-01",
            "must not be a date or time, which JSON does not know; write it as a string",
        ),
        ('log.level = "trace"', 'must be "debug", "info", "warn" or "error", not "trace"'),
        ("provider = 1", "must be a table, not a number"),
        ("extensions = {}", "must be an array, not a table"),
        ("extensions = [1]", "must be a table, not a number"),
        ('extensions = [{path = "a", settings = {a = nan}}]', "must be a finite number that a double can hold"),
        ('tools.env = ["A=b"]', "must be the name of an environment variable, such as PATH"),
    ],
)
def test_values_out_of_bounds_are_refused(machine: Machine, text: str, what: str) -> None:
    machine.write("project", text)
    (problem,) = machine.problems()
    assert (problem.line, problem.what) == (1, what)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/v1", "https://models.example/v1", "http://[::1]:8080"])
def test_urls(machine: Machine, url: str) -> None:
    machine.write("project", f'provider.baseUrl = "{url}"\nprovider.timeoutSeconds = 5\n')
    provider = machine.load().config.provider
    assert (provider.base_url, provider.timeout_seconds) == (url, 5.0)


def test_the_project_is_the_nearest_folder_that_has_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("project", "")
    deep = machine.project / "a" / "b"
    deep.mkdir(parents=True)
    assert find_project(deep) == machine.project
    monkeypatch.chdir(deep)
    assert find_project() == machine.project
    (deep / ".orrery").write_text("a file is no project")
    assert find_project(deep) == machine.project
    assert find_project(machine.root) == machine.root


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_project_of_another_user_is_not_found_by_chance(machine: Machine) -> None:
    folder = machine.project / ".orrery"
    folder.mkdir()
    deep = machine.project / "deep"
    deep.mkdir()
    os.chown(folder, 4711, -1)
    assert find_project(machine.project) == machine.project
    with pytest.raises(ConfigError, match="belongs to another user"):
        find_project(deep)
    os.chown(deep, 4711, -1)
    assert find_project(deep) == machine.project


def test_a_project_that_cannot_be_is_said(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(ConfigError, match="cannot be found"):
        find_project(loop)
    with pytest.raises(ConfigError, match="cannot be found"):
        load_config(loop)


def test_the_places_are_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files.platformdirs, "user_config_dir", lambda name: str(tmp_path / "u" / name))
    monkeypatch.setattr(files.platformdirs, "site_config_dir", lambda name: str(tmp_path / "s" / name))
    places = Places()
    assert places.user == tmp_path / "u" / "orrery" / "config.toml"
    assert places.org == tmp_path / "s" / "orrery" / "config.toml"
    assert places.managed == Path("/etc/orrery/config.toml")


tables = sorted({key.split(".")[0] for key in KEYS})
keys = st.sampled_from([*KEYS, *tables, "extensions", "workspace", "locked", "limits.x", "extensions.path", "a b"])
toml_values = st.sampled_from(
    [
        "1",
        "0",
        "-1",
        "1.5",
        "nan",
        '"allow"',
        '"x"',
        "true",
        "[]",
        "{}",
        '["a"]',
        "[[1]]",
        "2020-01-01",
        '[{path = "a"}]',
        "",
    ]
)
lines = st.tuples(keys, toml_values).map(" = ".join) | keys.map(lambda key: f"[{key}]") | st.text(max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, max_size=6).map("\n".join), st.sampled_from(list(Layer)))
def test_any_text_is_a_config_or_a_config_error(machine: Machine, text: str, layer: Layer) -> None:
    for path in machine.paths.values():
        path.unlink(missing_ok=True)
    path = machine.paths[layer]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        loaded = machine.load()
    except ConfigError as error:
        assert error.problems
        for problem in error.problems:
            assert "Input should" not in str(problem)
            assert problem.what != "is not valid here"
    else:
        assert loaded.config.values().keys() == set(KEYS)
