"""What objects show of themselves: a few lines on a terminal, a table in a notebook."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
import xarray as xr
from torch.utils.data import DataLoader

import regimes as rg


class Closed(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def summary():
    study = rg.lab.find("compression/kernel-curves")
    made = rg.lab.announce_run(
        study, "cpu", study.parameters("cpu"), trials=2, dtype=None, command="x"
    )
    claim = rg.lab.Claim.near("COMP-01", 0.5, 0.5, 0.1, statement="It is <so>")
    data = xr.Dataset({"error": ("seed", np.zeros(2))})
    return replace(made, finished=2, claims=(claim,), dataset=data)


@pytest.fixture(scope="module")
def shown():
    ds = rg.data.stripe(n_train=40, n_test=10, d=3, seed=0)
    net = rg.nets.FullyConnected(in_dim=3, width=8, depth=1, seed=0)
    kernel = rg.tangent.TangentKernel(net)
    return {
        "Dataset": ds,
        "Run": rg.flow.gradient_flow(
            net, ds, loss="hinge", alpha=1.0, until="fitted", max_steps=20
        ),
        "TangentKernel": kernel,
        "Gram": kernel.plan(ds.x_train),
        "KernelEigenpairs": kernel.top_eigenpairs(ds.x_train, 3),
        "GramEigenpairs": rg.measure.gram_eigs(kernel(ds.x_train), 3),
        "Summary": summary(),
    }


NAMES = ("Dataset", "Run", "TangentKernel", "Gram", "KernelEigenpairs", "GramEigenpairs", "Summary")


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_gets_few_lines_and_a_notebook_a_table(shown, name):
    text, page = repr(shown[name]), shown[name]._repr_html_()
    assert text.startswith(name)
    assert str(shown[name]) == text
    assert "tensor(" not in text + page
    assert len(text.splitlines()) <= 20
    assert "<table>" in page
    Closed(page)


def test_pictures_are_drawn_of_points_losses_and_spectra(shown):
    assert shown["Dataset"]._repr_html_().count("<circle") == 40
    assert "<path" in shown["Run"]._repr_html_()
    assert "<path" in shown["KernelEigenpairs"]._repr_html_()


def test_a_data_set_is_one_for_torchs_loader(shown):
    ds = shown["Dataset"]
    batches = list(DataLoader(ds, batch_size=16, generator=torch.Generator()))
    assert [len(x) for x, _ in batches] == [16, 16, 8]
    assert torch.equal(torch.cat([x for x, _ in batches]), ds.x_train)
    assert torch.equal(torch.cat([y for _, y in batches]), ds.y_train)
