"""Callbacks of trainers, and loggers: the same numbers as in a plain loop, the same training."""

import warnings

import pytest
import torch
from torch import nn

from regimes import data, observe


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    """Trainers seed torch's own state, write where they stand, and warn of much else."""
    monkeypatch.chdir(tmp_path)
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_rng_state(state)


@pytest.fixture
def digits():
    return data.digits(n_train=60, n_test=30)


def small():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(),
        nn.Linear(108, 10),
    )  # fmt: skip


def same(one, other):
    return all(
        torch.equal(mine, theirs)
        for mine, theirs in zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    )


def batches(ds):
    """In order; to begin with, a loader draws one random number."""
    points = torch.utils.data.TensorDataset(ds.x_train, ds.y_train)
    return torch.utils.data.DataLoader(points, batch_size=10)


def plain(ds, accumulate=1):
    """What the trainers below do, in a loop."""
    net = small().train()
    torch.manual_seed(1)
    watch = observe.KernelObserver(net, (ds.x_test, ds.y_test), when=observe.LogSteps(1, 2.0))
    optimiser = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    for k, (x, y) in enumerate(batches(ds), start=1):
        loss = nn.functional.cross_entropy(net(x), y)
        (loss / accumulate).backward()
        if k % accumulate == 0:
            optimiser.step()
            optimiser.zero_grad()
            watch.step()
    return net, watch.finish()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_lightning_takes_one_line(digits, accumulate):
    lightning = pytest.importorskip("lightning.pytorch", reason="needs the extra 'lightning'")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = small()

        def training_step(self, batch, _):
            return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.net.parameters(), 0.05, momentum=0.9)

    def fitted(callbacks):
        module = Module()
        torch.manual_seed(1)
        trainer = lightning.Trainer(
            max_epochs=1, callbacks=callbacks, accumulate_grad_batches=accumulate,
            accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(module, batches(digits))
        return module.net

    watch = observe.lightning_callback(
        (digits.x_test, digits.y_test), network="net", when=observe.LogSteps(1, 2.0)
    )
    watched, alone = fitted([watch]), fitted([])
    net, record = plain(digits, accumulate)
    assert same(watched, alone)
    assert same(watched, net)
    assert torch.equal(watch.record.steps, record.steps)
    for name in ("train/alignment", "train/layer_alignment", "complexity"):
        assert torch.equal(watch.record[name], record[name]), name
    assert watched.training == alone.training
    with pytest.raises(ValueError, match="has no module 'head'; it has net"):
        fitted([observe.lightning_callback((digits.x_test, digits.y_test), network="head")])


def test_hugging_face_trainers_take_one_too(digits, tmp_path):
    transformers = pytest.importorskip("transformers", reason="needs the package transformers")
    pytest.importorskip("accelerate", reason="needs the package accelerate")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = small()

        def forward(self, pixels, labels=None):
            logits = self.net(pixels)
            if labels is None:
                return {"logits": logits}
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    def fitted(callbacks):
        model = Model()
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path), max_steps=6, per_device_train_batch_size=10, use_cpu=True,
            report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
            learning_rate=0.01, seed=3,
        )  # fmt: skip
        points = [
            {"pixels": x, "labels": y} for x, y in zip(digits.x_train, digits.y_train, strict=True)
        ]
        transformers.Trainer(model, arguments, train_dataset=points, callbacks=callbacks).train()
        return model

    watch = observe.transformers_callback(
        {"test": ({"pixels": digits.x_test}, digits.y_test)},
        when=observe.LogSteps(1, 2.0),
        output=lambda found: found["logits"],
    )
    watched = fitted([watch])
    assert same(watched, fitted([]))
    assert watch.record.steps.tolist() == [0, 1, 2, 4, 6]
    # the last row is that of the weights at the end
    last = observe.KernelObserver(watched.net, {"test": (digits.x_test, digits.y_test)}).record()
    assert watch.record["test/alignment"][-1] == last["test/alignment"][0]
    assert len(watch.record.layers) == 3


def observed(digits, sink):
    net = small()
    watch = observe.KernelObserver(
        net, {"test": (digits.x_test, digits.y_test)}, when=observe.LogSteps(1, 2.0), sinks=[sink]
    )
    for _ in range(2):
        with torch.no_grad():
            net[0].weight.mul_(1.1)
        watch.step()
    return watch.finish()


def test_tensorboard_holds_the_numbers(digits, tmp_path):
    pytest.importorskip("tensorboard", reason="needs the extra 'loggers'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    record = observed(digits, observe.TensorBoard(tmp_path / "events"))
    read = EventAccumulator(str(tmp_path / "events"))
    read.Reload()
    found = read.Scalars("test/alignment")
    assert [event.step for event in found] == record.steps.tolist() == [0, 1, 2]
    kept = torch.tensor([event.value for event in found])
    assert torch.equal(kept, record["test/alignment"].float())
    layers = [tag for tag in read.Tags()["scalars"] if tag.startswith("test/layer_alignment/")]
    assert [tag.rpartition("/")[2] for tag in layers] == list(record.layers)


def test_weights_and_biases_stay_offline(digits, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="needs the extra 'loggers'")
    monkeypatch.setenv("WANDB_SILENT", "true")
    sink = observe.WandB("regimes-tests", tmp_path)
    logged = []
    log = sink._run.log
    monkeypatch.setattr(sink._run, "log", lambda row: logged.append(row) or log(row))
    record = observed(digits, sink)
    assert [row["observed/step"] for row in logged] == record.steps.tolist()
    assert logged[-1]["observed/test/trace"] == float(record["test/trace"][-1])
    folders = [path.name for path in (tmp_path / "wandb").iterdir()]
    assert any(name.startswith("offline-run-") for name in folders)


def test_what_is_absent_is_told(digits, monkeypatch):
    import sys

    for name in ("lightning.pytorch", "pytorch_lightning", "transformers", "wandb"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    for make, told in (
        (lambda: observe.lightning_callback((digits.x_test, digits.y_test)), r"regimes\[lightning"),
        (lambda: observe.transformers_callback((digits.x_test, digits.y_test)), "transformers"),
        (lambda: observe.WandB("project"), r"regimes\[loggers\]"),
        (lambda: observe.TensorBoard("events"), r"regimes\[loggers\]"),
    ):
        with pytest.raises(ValueError, match=told):
            make()
