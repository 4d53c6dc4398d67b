import json
import sys

import pytest
import torch

from regimes.nets import FullyConnected

MODULE = """
import copy
import torch
import regimes as rg

def network():
    return rg.nets.FullyConnected(4, 20, out_dim=2, seed=0)

def pair():
    after = network()
    for p in after.parameters():
        p.data *= 1.01
    return network(), after

def points():
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] > 0).long()

def fit(network, train):
    for p in network.parameters():
        p.data *= 1.01

def loop(network, train):
    for batch in train.batches:
        pass

def nothing():
    return 3

ready = network()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's in the folder where the command is called."""
    (tmp_path / "mymodule.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mymodule", raising=False)
    yield tmp_path
    sys.modules.pop("mymodule", None)


def test_a_pair_of_networks(regimes, own):
    answer = regimes("diagnose", "mymodule:pair", "--data", "mymodule:points", "--html", "d.html")
    assert "Lazy" in answer.stdout
    assert "kernel_change" in answer.stdout
    assert (own / "d.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_states_from_files(regimes, own):
    net = FullyConnected(4, 20, out_dim=2, seed=0)
    torch.save(net.state_dict(), own / "start.pt")
    command = ["diagnose", "mymodule:network", "--data", "mymodule:points", "--json"]
    found = json.loads(regimes(*command, "--before", "start.pt").stdout)
    assert found["regime"] == "unclear"
    assert "nothing was trained" in found["reasons"][0]


def test_a_function_that_trains(regimes, own):
    command = ["diagnose", "mymodule:network", "--data", "mymodule:points", "--fit", "mymodule:fit"]
    answer = regimes(*command, "--loss", "cross_entropy", "--step-size", "0.1", "--profile")
    assert "Lazy" in answer.stdout
    assert "sharpness_against_step" in answer.stdout
    assert {"training", "kernels", "curvature"} <= {
        line.split()[-1] for line in answer.stdout.splitlines() if "%" in line and " s " in line
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mymodule", "--data", "digits"], "give MODULE:FUNCTION"),
        (["nomodule:f", "--data", "digits"], "no module 'nomodule'"),
        (["mymodule:f", "--data", "digits"], "no function 'f'"),
        (["mymodule:nothing", "--data", "digits"], "must return a torch.nn.Module"),
        (["mymodule:ready", "--data", "digits"], "mymodule:ready is a network itself"),
        (["mymodule:network", "--data", "digit"], "digits"),
        (["mymodule:network", "--data", "digits", "--before", "no.pt"], "no file no.pt"),
        (
            ["mymodule:network", "--data", "mymodule:points", "--fit", "mymodule:loop"],
            "fit(network, train) failed with AttributeError: 'tuple' object has no attribute",
        ),
        (["mymodule:network", "--data", "mymodule:points", "--before", "mymodule.py"], "no state"),
    ],
)
def test_misuse(regimes, own, words, message):
    assert message in regimes("diagnose", *words, code=2).stderr
