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


def test_a_full_disk_is_one_sentence(regimes):
    result = regimes("report", "--out", "/dev/full", code=3)
    assert result.stderr == (
        "error: cannot write the page to /dev/full: No space left on device; choose another --out\n"
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
