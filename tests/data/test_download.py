import dataclasses
import gzip
import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import torch

from regimes import data
from regimes.data import _sources
from regimes.data._download import ProgressBar, cache_folder, fetch

CONTENT = bytes(range(256)) * 2000


@pytest.fixture
def server():
    """A server of `files`; below /cut/ it hangs up in the middle. Yields (address, files, log)."""
    files, log = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            log.append(self.path)
            folder, _, name = self.path.rpartition("/")
            if name not in files or folder == "/missing":
                self.send_error(404)
                return
            content = files[name] if folder != "/wrong" else b"something else"
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if folder == "/cut" else content)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", files, log
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def source(server):
    """A set with one file, to be had from the mirrors one names."""
    address, files, _ = server
    files["file.gz"] = CONTENT

    def make(*mirrors):
        return _sources.Source(
            "made",
            ("made",),
            (1, 28, 28),
            {},
            tuple(f"{address}/{mirror}/" for mirror in mirrors),
            {"file.gz": hashlib.md5(CONTENT).hexdigest()},
        )

    return make


def test_good_file_is_kept_and_not_fetched_twice(source, server, bare):
    path = fetch(source("good"), "file.gz", "advice")
    assert path == bare / "made" / "file.gz"
    assert path.read_bytes() == CONTENT
    assert fetch(source("good"), "file.gz", "advice") == path
    assert len(server[2]) == 1
    assert [p.name for p in path.parent.iterdir()] == ["file.gz"]


def test_damaged_cache_is_fetched_again(source, server, bare):
    path = fetch(source("good"), "file.gz", "advice")
    path.write_bytes(CONTENT[:-1])
    assert fetch(source("good"), "file.gz", "advice").read_bytes() == CONTENT
    assert len(server[2]) == 2


def test_wrong_sum(source, bare):
    with pytest.raises(ValueError, match=r"does not have the md5 sum .*nothing was kept"):
        fetch(source("wrong"), "file.gz", "advice")
    assert not list(bare.rglob("*"))


@pytest.mark.parametrize("trouble", ["missing", "cut"])
def test_no_whole_file(source, bare, trouble):
    with pytest.raises(FileNotFoundError, match=f"advice. Download failed: http://.*/{trouble}/"):
        fetch(source(trouble), "file.gz", "advice")
    assert not list(bare.rglob("*"))


def test_server_answer_is_quoted(source, bare):
    with pytest.raises(FileNotFoundError, match="the server answered 404"):
        fetch(source("missing"), "file.gz", "advice")


@pytest.mark.parametrize("trouble", ["missing", "cut", "wrong"])
def test_next_mirror_is_tried(source, server, bare, trouble):
    path = fetch(source(trouble, "good"), "file.gz", "advice")
    assert path.read_bytes() == CONTENT
    assert server[2] == [f"/{trouble}/file.gz", "/good/file.gz"]


def test_cache_that_cannot_be_written(source, monkeypatch, tmp_path, bare):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("REGIMES_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match="set REGIMES_CACHE to a folder that you can write to"):
        fetch(source("good"), "file.gz", "advice")


def test_default_cache_is_the_systems(monkeypatch):
    monkeypatch.delenv("REGIMES_CACHE", raising=False)
    assert cache_folder().name == "regimes"


def test_mnist_from_a_mirror(server, bare, monkeypatch, idx):
    address, files, log = server
    x = torch.randint(256, (20, 28, 28), generator=torch.Generator(), dtype=torch.uint8)
    y = (torch.arange(20) % 10).to(torch.uint8)
    sums = {}
    for prefix in ("train", "t10k"):
        for kind, values in (("images-idx3", x), ("labels-idx1", y)):
            name = f"{prefix}-{kind}-ubyte.gz"
            files[name] = gzip.compress(idx(values))
            sums[name] = hashlib.md5(files[name]).hexdigest()
    real = _sources.SOURCES["mnist"]
    assert set(sums) == set(real.md5)
    local = dataclasses.replace(real, mirrors=(f"{address}/good/",), md5=sums)
    monkeypatch.setitem(_sources.SOURCES, "mnist", local)
    ds = data.mnist(dtype=torch.float64)
    assert torch.equal(ds.x_train[:, 0], x.double() / 255)
    assert len(log) == 4
    assert torch.equal(data.mnist(dtype=torch.float64).x_test, ds.x_test)
    assert len(log) == 4  # the second time from the cache


def test_cifar_from_a_mirror(server, bare, monkeypatch):
    address, files, _ = server
    record = torch.arange(3073).remainder(10).to(torch.uint8).numpy().tobytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(record)
            tar.addfile(info, io.BytesIO(record))
    files["cifar-10-binary.tar.gz"] = packed.getvalue()
    local = dataclasses.replace(
        _sources.SOURCES["cifar10"],
        mirrors=(f"{address}/good/",),
        md5={"cifar-10-binary.tar.gz": hashlib.md5(packed.getvalue()).hexdigest()},
    )
    monkeypatch.setitem(_sources.SOURCES, "cifar10", local)
    ds = data.cifar10()
    assert (ds.n_train, ds.n_test, ds.in_shape) == (5, 1, (3, 32, 32))
    assert [p.name for p in bare.rglob("*.*")] == ["cifar-10-binary.tar.gz"]


def test_progress_bar_on_a_terminal(server, source, bare):
    import pooch
    from rich.console import Console

    address, _, _ = server
    shown = io.StringIO()
    with ProgressBar("made/file.gz", Console(file=shown, force_terminal=True, width=100)) as bar:
        assert bar.visible
        source("good")
        pooch.retrieve(
            f"{address}/good/file.gz",
            known_hash=None,
            path=bare,
            downloader=pooch.HTTPDownloader(progressbar=bar),
        )
        assert bar.total == len(CONTENT)
    assert "made/file.gz" in shown.getvalue()
    assert "512.0/512.0 kB" in shown.getvalue()


def test_no_progress_bar_elsewhere():
    from rich.console import Console

    shown = io.StringIO()
    with ProgressBar("quiet", Console(file=shown)) as bar:
        assert not bar.visible
        bar.total = 0
        bar.update(5)
    assert bar.total is None
    assert shown.getvalue() == ""


def test_sums_and_addresses_are_complete():
    for name, source in _sources.SOURCES.items():
        assert source.name == name
        if name == "emnist":  # its files are put there by hand
            assert not source.mirrors
            continue
        assert source.mirrors
        assert all(mirror.endswith("/") for mirror in source.mirrors)
        wanted = (
            {source.archive}
            if source.archive
            else {f"{file}.gz" for files in source.files.values() for file in files}
        )
        assert set(source.md5) == wanted
        assert all(len(md5) == 32 for md5 in source.md5.values())
