import json


def test_studies_are_listed_with_sizes_state_and_claims(regimes):
    regimes("run", "toy/echo", "--workers", 0)
    answer = json.loads(regimes("studies", "--json").stdout)
    echo = next(study for study in answer["studies"] if study["name"] == "toy/echo")
    assert echo["sizes"]["smoke"] == {"trials": 6, "present": 6}
    assert echo["sizes"]["cpu"] == {"trials": 9, "present": 6}
    assert echo["claims"] == ["TOY-1", "TOY-2"]
    table = regimes("studies").stdout
    assert "toy/echo" in table
    assert "6/9" in table
    assert "compression/alpha-scan" in table


def test_a_broken_module_is_named(regimes, tmp_path, monkeypatch):
    (tmp_path / "my_bad_module.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REGIMES_STUDIES", "my_bad_module")
    result = regimes("studies")
    assert "could not import my_bad_module: ModuleNotFoundError" in result.stderr
