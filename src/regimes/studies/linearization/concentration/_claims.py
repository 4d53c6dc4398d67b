"""Verdicts on the energy of the labels."""

from __future__ import annotations

from regimes.lab import Claim, Data, Verdict, judge
from regimes.studies.linearization._judging import settings

RISES = {50: 0.04, 10: 0.12, 5: 0.15}  # of the share on so many eigenvectors, on digits
SHARES = {"mlp": (0.260, 0.636), "lenet": (0.258, 0.830), "resnet": (0.227, 0.967)}  # CIFAR2
ACCURACIES = {"mlp": 0.676, "lenet": 0.750, "resnet": 0.814}
POINTS = 12_000  # that the paper's table is of

claim = judge.Claims()


@claim("LIN-19", "on digits shares on 50, 10 and 5 eigenvectors rise by 0.04, 0.12 and 0.15")
def energy_rises(dataset: Data) -> judge.Parts:
    told = []
    for where, own in settings(dataset, "share"):
        images, network = where.split()
        first, last = own.share.isel(epoch=0), own.share.isel(epoch=-1)
        for K, rise in RISES.items():
            gain = judge.mean_of(last.sel(top=K) - first.sel(top=K))
            if images == "digits":
                yield judge.above(f"{where}: rise of the share on {K}", gain, rise)
            elif K == 50:
                for name, share, expected in zip(
                    ("start", "end"), (first, last), SHARES[network], strict=True
                ):
                    found = judge.mean_of(share.sel(top=K))
                    yield judge.near(f"{where}: share on {K} at the {name}", found, expected, 0.08)
                yield judge.above(f"{where}: its rise", gain, 0.0)
        if images == "digits":
            chance = own.chance / (own.top / own.points) ** 0.5
            yield judge.near(
                f"{where}: share of random labels on 50 / sqrt(K/m)",
                judge.mean_of(chance.sel(top=50)), 1.0, 0.2,
            )  # fmt: skip
        ends = [f"{float(s.sel(top=50).mean()):.3f}" for s in (first, last)]
        told.append(f"{where} {ends[0]} to {ends[1]} on 50 of {int(own.points.max())}")
    return "; ".join(told)


@claim("LIN-20", "67.6, 75.0 and 81.4 % on CIFAR2 within 4 points; reported on other images")
def accuracy(dataset: Data) -> Claim:
    parts, told = [], []
    for where, own in settings(dataset, "accuracy_network"):
        images, network = where.split()
        found = judge.mean_of(own.accuracy_network)
        if images == "cifar10":
            parts.append(judge.near(f"{where}: test accuracy", found, ACCURACIES[network], 0.04))
            told.append(f"{int(own.points.max())} training images here, {POINTS} in the paper")
        else:
            told.append(f"{where}: test accuracy {found}")
    if parts:
        return judge.claim_of_parts("LIN-20", parts, why="; ".join(told))
    first = next(settings(dataset, "accuracy_network"))[1]
    mean = judge.mean_of(first.accuracy_network)
    return Claim(
        "LIN-20",
        Verdict.REPORTED,
        "the paper's table is of CIFAR2",
        mean.value,
        mean.error,
        "; ".join(told),
    )


@claim("LIN-22", "alignment / trace at the end >= 1.5 times that at the start")
def alignment_grows(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "alignment"):
        scaled = own.alignment / own.trace
        gain = scaled.isel(epoch=-1) / scaled.isel(epoch=0)
        yield judge.above(f"{where}: gain of alignment / trace", judge.log_mean(gain), 1.5)
    return (
        f"the trace itself grows {float((own.trace[..., -1] / own.trace[..., 0]).mean()):.3g} fold"
    )


@claim("LIN-34", "after all epochs the network is at least as accurate as its linearisation")
def still_ahead(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "accuracy_network", "accuracy_linear"):
        lead = judge.mean_of(own.accuracy_network - own.accuracy_linear)
        yield judge.above(f"{where}: lead of the network", lead, 0.0)
        told = (
            f"{float(own.accuracy_network.mean()):.4f} and {float(own.accuracy_linear.mean()):.4f}"
        )
    return told
