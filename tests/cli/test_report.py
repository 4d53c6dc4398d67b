def test_a_report_of_what_has_run(regimes, tmp_path):
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    out = tmp_path / "deep" / "page.html"
    result = regimes("report", "--out", out)
    assert result.stdout.splitlines()[-1] == str(out)
    assert "toy/echo" in out.read_text()


def test_smoke_runs_give_way_to_larger_ones(regimes, tmp_path):
    out = tmp_path / "page.html"
    regimes("run", "toy/echo", "--workers", 0)
    assert regimes("report", "--out", out).stdout.startswith("1 runs")
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    assert regimes("report", "--out", out).stdout.startswith("1 runs")
    assert regimes("report", "--out", out, "--with-smoke").stdout.startswith("2 runs")


def test_an_empty_store_makes_a_page_and_an_absent_study_an_error(regimes, tmp_path):
    out = tmp_path / "page.html"
    assert regimes("report", "--out", out).stdout.startswith("0 runs")
    result = regimes("report", "--out", out, "--study", "toy/echo", code=2)
    assert "regimes run toy/echo" in result.stderr


def test_a_full_disk_is_one_sentence(regimes, tmp_path):
    full = tmp_path / "page.html"
    full.symlink_to("/dev/full")
    assert regimes("report", "--out", full, code=3).stderr == (
        f"error: cannot write the page to {full}: No space left on device; choose another --out\n"
    )


def test_a_damaged_summary_is_said_and_on_the_page(regimes, store, tmp_path):
    regimes("run", "toy/echo", "--workers", 0)
    numbers = store.root / "summaries" / "toy" / "echo" / "smoke" / "dataset.safetensors"
    content = bytearray(numbers.read_bytes())
    content[-1] ^= 1
    numbers.write_bytes(content)
    out = tmp_path / "page.html"
    words = "is damaged and not used: dataset.safetensors does not match its checksum"
    assert words in regimes("report", "--out", out).stderr
    assert words in out.read_text()
    assert words in regimes("claims").stderr


def test_a_folder_and_what_of_it_was_asked_for(regimes, tmp_path):
    regimes("run", "toy/echo", "--workers", 0)
    result = regimes("report", "--out", tmp_path / "all")
    assert result.stdout.splitlines()[-1] == str(tmp_path / "all" / "index.html")
    assert (tmp_path / "all" / "toy" / "echo.html").exists()
    regimes("report", "--study", "toy/echo", "--out", tmp_path / "one")
    assert not (tmp_path / "one" / "claims.html").exists()  # nothing of 452 that were not run
    assert "not run" not in (tmp_path / "one" / "index.html").read_text()
    regimes("report", "--theme", "toy", "--out", tmp_path / "theme.html")
    assert "COMP-" not in (tmp_path / "theme.html").read_text()
    wrong = regimes("report", "--study", "toy/echo", "--size", "cpu", code=2)
    assert "nothing of size cpu has run of toy/echo" in wrong.stderr


def test_what_does_not_exist_is_said(regimes):
    told = regimes("report", "--study", "toy/ecko", code=2).stderr
    assert "unknown study 'toy/ecko'; nearest: toy/echo" in told
    assert "no theme 'compresion'; the themes are compression" in (
        regimes("report", "--theme", "compresion", code=2).stderr
    )
    assert "use one of: smoke" in regimes("report", "--size", "huge", code=2).stderr


def test_a_folder_that_cannot_be_made_is_one_sentence(regimes, tmp_path):
    (tmp_path / "file").write_text("")
    told = regimes("report", "--out", tmp_path / "file" / "report", code=3).stderr
    assert told.startswith("error: cannot write the page to")
    assert told.endswith("choose another --out\n")
