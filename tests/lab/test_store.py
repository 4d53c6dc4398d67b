"""The store: whole trials or none, whoever writes and whatever breaks."""

import errno
import os
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from regimes.lab import (
    Array,
    CorruptRecordError,
    Record,
    Store,
    StoreError,
    TrialConfig,
    TrialResult,
)
from regimes.lab import _durable as durable
from regimes.lab._record import encode

STUDY = "toy/stored"


def encoded(i, *, x=1.0, status="finished", size=4):
    config = TrialConfig(STUDY, 1, {}, {"i": i}, "float64")
    error = {"type": "E", "message": "m", "traceback": ""} if status == "failed" else None
    result = TrialResult({"x": x}, arrays={"v": Array("k", np.full(size, float(i)))})
    return encode(Record(config, status, result, error=error))


def test_what_is_committed_can_be_read(store):
    group = [encoded(i) for i in range(3)]
    store.commit(group)
    assert store.keys(STUDY) == {item.key for item in group}
    assert store.studies() == [STUDY]
    record = store.read(STUDY, group[2].key)
    assert record.config.point == {"i": 2}
    np.testing.assert_array_equal(record.result.arrays["v"].values, np.full(4, 2.0))


@pytest.mark.parametrize("count", [1, 40])  # flushed file by file, and all at once
def test_nothing_is_left_beside_the_trials(store, count):
    store.commit([encoded(i) for i in range(count)])
    assert list((store.root / "tmp").iterdir()) == []
    assert len(store.inspect(STUDY, store.keys(STUDY)).finished) == count


def test_the_second_writer_loses_quietly(store):
    store.commit([encoded(0, x=1.0)])
    store.commit([encoded(0, x=2.0)])
    assert store.read(STUDY, encoded(0).key).result.scalars == {"x": 1.0}
    assert list((store.root / "tmp").iterdir()) == []


def test_a_failed_trial_gives_way_to_a_finished_one_but_not_the_reverse(store):
    key = encoded(0).key
    store.commit([encoded(0, status="failed")])
    assert not store.contains(STUDY, key)
    store.commit([encoded(0, x=3.0)])
    store.commit([encoded(0, status="failed")])
    assert store.contains(STUDY, key)
    assert store.read(STUDY, key).result.scalars == {"x": 3.0}
    assert list((store.root / "tmp").iterdir()) == []


def damage_arrays(folder):
    path = folder / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:-3])


def damage_json(folder):
    path = folder / "trial.json"
    path.write_text(path.read_text().replace('"x":1.0', '"x":2.0'))


def remove_arrays(folder):
    (folder / "arrays.safetensors").unlink()


def remove_json(folder):
    (folder / "trial.json").unlink()


def empty_json(folder):
    (folder / "trial.json").write_bytes(b"")


@pytest.mark.parametrize(
    "damage", [damage_arrays, damage_json, remove_arrays, remove_json, empty_json]
)
def test_a_damaged_trial_is_set_aside_and_can_be_written_again(store, damage):
    group = [encoded(i) for i in range(3)]
    store.commit(group)
    key = group[1].key
    damage(store.folder(STUDY) / key)
    with pytest.raises(CorruptRecordError):
        store.read(STUDY, key)
    found = store.inspect(STUDY, [item.key for item in group])
    assert set(found.set_aside) == {key}
    assert set(found.finished) == {group[0].key, group[2].key}
    assert [path.name[:20] for path in (store.root / "aside" / STUDY).iterdir()] == [key]
    store.commit([group[1]])
    assert len(store.inspect(STUDY, [item.key for item in group]).finished) == 3


def test_a_full_disk_is_named_and_finished_trials_stay_valid(store, monkeypatch):
    store.commit([encoded(0)])
    real_write, budget = os.write, [3000]

    def write(file, view):
        budget[0] -= len(view)
        if budget[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(file, view)

    monkeypatch.setattr(durable.os, "write", write)
    with pytest.raises(StoreError, match="No space left") as caught:
        store.commit([encoded(i) for i in range(1, 30)])
    assert caught.value.errno == errno.ENOSPC
    assert str(store.root) in str(caught.value)
    assert "--store" in str(caught.value)
    kept = store.inspect(STUDY, store.keys(STUDY))
    assert kept.set_aside == {}
    assert 1 < len(kept.finished) < 30  # those before the disk was full, and the old one
    assert list((store.root / "tmp").iterdir()) == []


def test_an_error_at_the_flush_publishes_nothing(store, monkeypatch):
    def fsync(file):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(durable.os, "fsync", fsync)
    with pytest.raises(StoreError, match="quota"):
        store.commit([encoded(0)])
    assert store.keys(STUDY) == set()
    assert list((store.root / "tmp").iterdir()) == []


@pytest.mark.parametrize("count", [1, 40])  # flushed file by file, and all at once
def test_the_folder_of_a_renamed_trial_is_flushed_after_the_rename(store, monkeypatch, count):
    happened = []
    fsync, rename = os.fsync, os.rename

    def flushed(file):
        happened.append(("flushed", str(Path(f"/proc/self/fd/{file}").readlink())))
        fsync(file)

    def renamed(source, target):
        happened.append(("renamed", str(Path(target).parent)))
        rename(source, target)

    monkeypatch.setattr(durable.os, "fsync", flushed)
    monkeypatch.setattr(durable.os, "rename", renamed)
    store.commit([encoded(i) for i in range(count)])
    store.add(store.root / "logs" / "one", {"text": b"1"})
    for folder in (str(store.folder(STUDY)), str(store.root / "logs")):
        last = max(i for i, each in enumerate(happened) if each == ("renamed", folder))
        assert ("flushed", folder) in happened[last:], folder


def test_a_file_size_limit_of_the_system_is_reported(tmp_path):
    script = f"""
import resource, signal
from tests_store import encoded
from regimes.lab import Store, StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
store = Store({str(tmp_path / "store")!r})
store.commit([encoded(0)])
try:
    store.commit([encoded(1), encoded(2, size=100_000), encoded(3)])
except StoreError as error:
    print("refused:", error.strerror)
print(sorted(body["config"]["point"]["i"] for body in
             store.inspect("toy/stored", store.keys("toy/stored")).finished.values()))
"""
    (tmp_path / "tests_store.py").write_text(Path(__file__).read_text())
    answer = subprocess.run(
        [os.sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert f"refused: cannot write to the store {tmp_path / 'store'}" in answer.stdout
    assert answer.stdout.splitlines()[-1] == "[0, 1]"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20000


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of one megabyte."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root; the tests above inject the same error")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here; the tests above inject the same error")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_really_full_disk(small_disk):
    store = Store(small_disk / "store")
    store.commit([encoded(i, size=8000) for i in range(5)])
    with pytest.raises(StoreError, match="0 MiB free there"):
        store.commit([encoded(i, size=8000) for i in range(5, 100)])
    found = store.inspect(STUDY, store.keys(STUDY))
    assert found.set_aside == {}
    assert 5 < len(found.finished) < 16  # of 64 kB each


def test_old_leftovers_are_swept_and_young_ones_kept(store):
    for name, age in (("old", 7200), ("young", 10)):
        path = store.root / "tmp" / name
        path.mkdir(parents=True)
        os.utime(path, (time.time() - age,) * 2)
    assert store.sweep() == 1
    assert [path.name for path in (store.root / "tmp").iterdir()] == ["young"]


def test_a_removed_trial_is_gone(store):
    store.commit([encoded(0), encoded(1)])
    store.remove(STUDY, encoded(0).key)
    assert store.keys(STUDY) == {encoded(1).key}
    with pytest.raises(FileNotFoundError, match="no trial"):
        store.read(STUDY, encoded(0).key)


def test_the_place_is_given_or_found_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGIMES_STORE", raising=False)
    assert Store().root == tmp_path / "out" / "store"
    monkeypatch.setenv("REGIMES_STORE", str(tmp_path / "elsewhere"))
    assert Store().root == tmp_path / "elsewhere"
    assert Store(tmp_path / "given").root == tmp_path / "given"
