"""Verdicts on networks before training."""

from __future__ import annotations

from regimes.lab import Data, judge

claim = judge.Claims()

NETWORKS = ("fc4", "lenet", "mini8")
IMAGES = ("mnist", "cifar10")
PLAIN = ("fc4", "lenet")  # without batch norm
DEEP = ("resnet18", "cifar10")


@claim("DEF-12", "three networks, on MNIST and CIFAR-10: log-mean of R_f in [0.4, 2.5]")
def _about_one(dataset: Data) -> judge.Parts:
    for images in IMAGES:
        for network in NETWORKS:
            at = judge.where_ran(dataset, "seed", "R", images=images, network=network)
            values = judge.need(at, "R", c=3.0).R.values
            yield judge.within(f"{network} on {images}", judge.log_mean(values), 0.4, 2.5)
    return f"{len(values)} networks of each, c = 3"


@claim("DEF-34", "G_f with Gaussian noise over G_f with noise on the sphere: 1 +- 0.05")
def _two_noises(dataset: Data) -> judge.Parts:
    for images in IMAGES:
        for network in PLAIN:
            at = judge.where_ran(dataset, "seed", "gaussian", images=images, network=network)
            ratio = judge.log_mean(at.gaussian.values)
            yield judge.near(f"{network} on {images}", ratio, 1.0, 0.05)
    return f"{at.sizes['seed']} networks of each, before training"


@claim("DEF-39", "R_f and V of ResNet18 with statistics of the batch and running ones", report=True)
def _batch_norm(dataset: Data) -> judge.Parts:
    network, images = DEEP
    at = judge.where_ran(dataset, "seed", "R_batch", images=images, network=network)
    yield judge.within("R_f, batch", judge.log_mean(at.R_batch.values))
    if bool((at.R_running > 0).all()):
        yield judge.within("R_f, running", judge.log_mean(at.R_running.values))
    yield judge.within("V, running / batch", judge.mean_of(at.V_running / at.V_batch))
    yield judge.below("change of running statistics", float(at.touched.max()), 0.0)
    return f"{at.sizes['seed']} networks; the default of the measure is the batch's"
