import math

import pytest
import torch
from torch import nn

from regimes import data, measure, nets


def images(n=51, channels=1, side=16, seed=0):
    source = torch.Generator().manual_seed(seed)
    return torch.rand(n, channels, side, side, generator=source, dtype=torch.float64)


def test_the_identity_is_as_stable_to_both():
    found = measure.stability(lambda x: x, images(51))
    assert float(found.R_f) == pytest.approx(1, abs=1e-12)
    x = images(51)
    mean = measure.stability(lambda x: x, x, statistic="mean")
    T, source = found.probe.T, torch.Generator().manual_seed(0)
    r = (data.deform(x, T, 3, generator=source) - x).flatten(1).norm(dim=1)
    assert mean.probe.radius == pytest.approx(float(r.mean()), rel=1e-12)
    expected = 1 + float(r.var(correction=0) / r.mean() ** 2)
    assert float(mean.R_f) == pytest.approx(expected, rel=1e-12)


def test_pooling_divides_noise_by_its_window():
    x = images(101, side=32)
    for k in (2, 4):
        found = measure.stability(nn.AvgPool2d(k), x, draws=5)
        assert found.probe.draws == 5
        noise = float(found.G_f * found.found.scale)
        assert noise == pytest.approx(found.probe.radius**2 / k**4, rel=0.05)


def test_the_scale_of_a_function_does_not_matter():
    net = nets.LeNet5((1, 16, 16), 3, dtype=torch.float64)
    x = images()
    plain = measure.stability(net, x)
    scaled = measure.stability(lambda x: -7 * net(x), x)
    for name in ("D_f", "G_f", "R_f", "R_f_error"):
        assert torch.allclose(getattr(plain, name), getattr(scaled, name), rtol=1e-10)


def test_it_is_the_definition_written_out():
    x, net = images(9), nets.LeNet5((1, 16, 16), 3, dtype=torch.float64)
    found = measure.stability(net, x, delta=0.7, c=2, draws=3)
    source = torch.Generator().manual_seed(0)
    T = data.temperature(0.7, 2, 16)
    moved = torch.stack([x] * 3)
    moved = data.deform(moved, T, 2, generator=source)
    sizes = (moved - x).flatten(2).norm(dim=2)
    radius = float(sizes.flatten().sort().values[(sizes.numel() - 1) // 2])
    assert found.probe.radius == pytest.approx(radius, rel=1e-12)
    with torch.no_grad():
        D = [float((net(moved[k][i : i + 1]) - net(x[i : i + 1])).square().sum())
             for k in range(3) for i in range(9)]  # fmt: skip
        V = [float((net(x[i : i + 1]) - net(x[j : j + 1])).square().sum())
             for i in range(9) for j in range(9) if i != j]  # fmt: skip

    def median(values):
        return sorted(values)[(len(values) - 1) // 2]

    assert float(found.D_f) == pytest.approx(median(D) / median(V), rel=1e-10)
    assert float(found.R_f) == pytest.approx(float(found.D_f / found.G_f), rel=1e-12)


def test_errors_shrink_with_more_images_and_cover_the_truth():
    net = nets.LeNet5((1, 16, 16), 3, dtype=torch.float64)
    whole = measure.stability(net, images(600))
    parts = [measure.stability(net, images(60, seed=s), seed=s) for s in range(1, 9)]
    spread = torch.stack([part.R_f for part in parts]).std()
    claimed = torch.stack([part.R_f_error for part in parts]).mean()
    assert 0.4 < float(claimed / spread) < 2.5
    assert whole.R_f_error < claimed


def test_each_image_may_have_noise_of_its_own_size():
    x = images(31)
    x[::2] *= 5
    found = measure.stability(lambda x: x, x, radius="per_image", draws=3)
    assert math.isnan(found.probe.radius)
    assert found.probe.per_image
    assert float(found.R_f) == pytest.approx(1, abs=1e-12)
    small = measure.stability(lambda x: x, x, radius=1e-3)
    assert float(small.G_f * small.found.scale) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("kind", ["bilinear", "gaussian", "nearest"])
def test_what_interpolation_alone_does_is_left_out(kind):
    found = measure.stability(lambda x: x, images(31), interpolation=kind, delta=1.0)
    assert float(found.R_f) == pytest.approx(1, abs=1e-12)
    assert found.probe.interpolation == kind


def test_members_of_an_ensemble_are_measured_together():
    ensemble = nets.stack(
        lambda seed: nets.LeNet5((1, 16, 16), 3, seed=seed, dtype=torch.float64), range(3)
    )
    x = images(21)
    found = measure.stability(ensemble, x)
    assert found.R_f.shape == (3,)
    for seed in range(3):
        alone = measure.stability(nets.LeNet5((1, 16, 16), 3, seed=seed, dtype=torch.float64), x)
        assert float(found.R_f[seed]) == pytest.approx(float(alone.R_f), rel=1e-9)
        assert float(found.R_f_error[seed]) == pytest.approx(float(alone.R_f_error), rel=1e-9)
    average = measure.log_average(found.R_f)
    assert average.value == pytest.approx(float(found.R_f.log().mean().exp()))


def with_norm(seed=0):
    source = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(),
            nn.Linear(4 * 14 * 14, 2),
        )  # fmt: skip
    for p in net.parameters():
        nn.init.normal_(p, generator=source)
    return net.double()


def test_def_39_batch_norm_at_the_start_uses_the_batch_and_is_left_untouched():
    net, x = with_norm(), images(21)
    before = {name: buffer.clone() for name, buffer in net.named_buffers()}
    modes = [module.training for module in net.modules()]
    auto = measure.stability(net, x)
    assert [module.training for module in net.modules()] == modes
    assert all(module.track_running_stats for module in net if isinstance(module, nn.BatchNorm2d))
    for name, buffer in net.named_buffers():
        assert torch.equal(buffer, before[name])
    by_batch = measure.stability(net, x, batch_norm="batch")
    running = measure.stability(net, x, batch_norm="running")
    assert torch.equal(auto.R_f, by_batch.R_f)  # and dropout is off: no draw differs
    assert not torch.equal(auto.R_f, running.R_f)
    with torch.random.fork_rng():
        net.train()(x)  # now it has seen data
    seen = {name: buffer.clone() for name, buffer in net.named_buffers()}
    trained = measure.stability(net, x)
    assert torch.equal(trained.R_f, measure.stability(net, x, batch_norm="running").R_f)
    assert all(torch.equal(buffer, seen[name]) for name, buffer in net.named_buffers())


def test_layers_in_the_order_they_run():
    net, x = nets.LeNet5((1, 16, 16), 3, dtype=torch.float64), images(21)
    found = measure.layer_stability(net, x, draws=2)
    names = [*found]
    assert names[-1] == "output"
    assert len(names) > 5
    whole = measure.stability(net, x, draws=2)
    assert torch.equal(found["output"].R_f, whole.R_f)
    assert torch.equal(found[names[-2]].R_f, whole.R_f)
    first = dict(net.named_modules())[names[0]]
    assert torch.allclose(found[names[0]].R_f, measure.stability(first, x, draws=2).R_f)
    chosen = measure.layer_stability(net, x, layers=[names[2]])
    assert [*chosen] == [names[2], "output"]
    assert not any(module._forward_hooks for module in net.modules())
    with pytest.raises(ValueError, match="no layer 'classifer'"):
        measure.layer_stability(net, x, layers=["classifer"])
    with pytest.raises(ValueError, match="unknown setting 'delt'"):
        measure.layer_stability(net, x, delt=1)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (torch.ones(1, 1, 8, 8), {}, "n >= 2"),
        (torch.ones(4, 8, 8), {}, "n >= 2"),
        (torch.ones(4, 1, 8, 9), {}, "square images"),
        (images(4) * torch.nan, {}, "images hold NaN"),
        (images(4), {"delta": 0.0}, "delta must be positive"),
        (images(4), {"statistic": "mode"}, "unknown statistic"),
        (images(4), {"radius": "own"}, "unknown radius"),
        (images(4), {"draws": 0}, "draws must be"),
        (images(4), {"batch_norm": "train"}, "unknown batch_norm"),
    ],
)
def test_bad_input(x, options, message):
    with pytest.raises(ValueError, match=message):
        measure.stability(nn.Flatten(), x, **options)


def test_images_of_another_precision_are_told():
    x = images(4)
    layer = nn.Linear(x[0].numel(), 2, device="meta").to_empty(device="cpu")
    model = nn.Sequential(nn.Flatten(), layer)
    with pytest.raises(ValueError, match=r"images are torch.float64 on cpu but the model is torch"):
        measure.stability(model, x.double())


def test_models_that_say_nothing_are_refused():
    with pytest.raises(measure.NoScaleError, match="the same at half or more of the pairs"):
        measure.stability(lambda x: torch.zeros(len(x), 2), images(5))
    with pytest.raises(measure.NoScaleError, match="the same at all points"):
        measure.stability(lambda x: torch.zeros(len(x), 2), images(5), statistic="mean")
    with pytest.raises(ValueError, match="a row an image"):
        measure.stability(lambda x: torch.zeros(2, 2), images(5))
    with pytest.raises(ValueError, match="say with output="):
        measure.stability(lambda x: {"logits": x}, images(5))
    found = measure.stability(
        lambda x: {"logits": x.flatten(1)}, images(5), output=lambda o: o["logits"]
    )
    assert found.R_f > 0


def test_a_dead_layer_does_not_hide_the_others():
    with torch.random.fork_rng():
        net = nn.Sequential(nn.Flatten(), nn.Linear(images(1)[0].numel(), 4), nn.Linear(4, 2))
    with torch.no_grad():
        net[2].weight.zero_()
    found = measure.layer_stability(net.double(), images(5).double())
    assert [*found] == ["0", "1", "2", "output"]
    assert [bool(each.R_f > 0) for each in found.values()] == [True, True, False, False]
    assert math.isnan(found["2"].R_f)
    assert found["2"].found.scale == 0
