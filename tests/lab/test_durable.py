import threading

import pytest

from regimes.lab._durable import Aside, flush, replace_folder


def test_a_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "deep" / "target"
    replace_folder(target, {"a": b"1", "b": b"2"}, tmp_path / "scratch")
    replace_folder(target, {"a": b"3"}, tmp_path / "scratch")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {"a": b"3"}
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_of_many_at_once_one_wins(tmp_path):
    target = tmp_path / "target"

    def write(number):
        for _ in range(20):
            files = {name: bytes([number]) * 1000 for name in "abc"}
            replace_folder(target, files, tmp_path / f"scratch-{number}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    contents = {path.read_bytes() for path in target.iterdir()}
    assert len(list(target.iterdir())) == 3
    assert len(contents) == 1  # never a mixture of two writers
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_nothing_remains_of_what_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="File name too long"):
        Aside(str(tmp_path / "aside"), {"good": b"1", "n" * 300: b"2"})
    assert list(tmp_path.iterdir()) == []


def test_flushed_files_are_closed_and_complete(tmp_path):
    folders = [Aside(str(tmp_path / str(i)), {"a": b"x" * 10_000}) for i in range(20)]
    flush(folders)
    assert all(not folder.open for folder in folders)
    assert all((tmp_path / str(i) / "a").stat().st_size == 10_000 for i in range(20))
