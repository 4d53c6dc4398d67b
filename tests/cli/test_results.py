import json


def test_results_are_kept_and_read_without_the_store(regimes, tmp_path):
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    folder = tmp_path / "results" / "toy" / "echo" / "cpu"
    saved = regimes("results", "save", "toy/echo").stdout
    assert saved.splitlines()[-1] == str(folder)
    about = json.loads((folder / "summary.json").read_text())
    assert about["command"] == "regimes run toy/echo --size cpu --workers 0"
    assert about["environment"]["versions"]["regimes"]
    elsewhere = ("--store", tmp_path / "nothing", "--theme", "toy", "--json")
    answer = json.loads(regimes("claims", *elsewhere).stdout)
    assert [claim["verdict"] for claim in answer["claims"]] == ["reproduced", "not reproduced"]
    page = tmp_path / "page.html"
    regimes("report", "--out", page, "--store", tmp_path / "nothing")
    assert "Product" in page.read_text()


def test_an_unfinished_run_is_not_saved_unless_asked(regimes, tmp_path):
    result = regimes("results", "save", "toy/echo", code=1)
    assert "0 of 9 trials are finished" in result.stderr
    assert "regimes run toy/echo --size cpu" in result.stderr
    regimes("run", "toy/echo", "--workers", 0)
    assert "--partial" in regimes("results", "save", "toy/echo", code=1).stderr
    regimes("results", "save", "toy/echo", "--partial")
    about = json.loads((tmp_path / "results/toy/echo/cpu/summary.json").read_text())
    assert (about["finished"], about["trials"]) == (6, 9)
    assert {claim["verdict"] for claim in about["claims"]} == {"inconclusive"}


def test_results_without_a_summary_of_their_run_say_how_they_were_saved(regimes, store, tmp_path):
    import shutil

    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    shutil.rmtree(store.root / "summaries")
    regimes("results", "save", "toy/echo", "--size", "cpu")
    about = json.loads((tmp_path / "results/toy/echo/cpu/summary.json").read_text())
    assert about["command"] == "regimes results save toy/echo --size cpu"
