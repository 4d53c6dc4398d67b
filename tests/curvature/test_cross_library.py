"""Products against curvlinops, where it is installed."""

import pytest
from torch import nn

from regimes.curvature import Curvature
from tests.curvature.zoo import CASES, SIGNS, drawn

pytestmark = pytest.mark.cross_library
curvlinops = pytest.importorskip("curvlinops", reason="curvlinops comes with `make bench`")

PARTS = {
    "total": curvlinops.HessianLinearOperator,
    "gauss_newton": curvlinops.GGNLinearOperator,
}
GIVEN = {
    "mlp": (CASES["mlp"], nn.CrossEntropyLoss()),
    "convolutions": (CASES["convolutions"], nn.CrossEntropyLoss()),
    "squares": (CASES["hinge"], nn.MSELoss()),
}


@pytest.mark.parametrize("name", GIVEN)
def test_products_agree_with_curvlinops(name, dtype, tolerance):
    case, loss = GIVEN[name]
    net, x, y, _ = case.arguments(dtype)
    y = y[:, None] if case.y is SIGNS else y
    ours = Curvature(net, x, y, loss)
    batches = [(x[:3], y[:3]), (x[3:], y[3:])]
    v = drawn(ours.size, 2).to(dtype)
    peers = {}
    for part, peer in PARTS.items():
        peers[part] = peer(net, loss, [*net.parameters()], batches, check_deterministic=False) @ v
    peers["network"] = peers["total"] - peers["gauss_newton"]
    for part, expected in peers.items():
        found = ours.product(v, part)
        assert float((found - expected).norm()) <= 3 * tolerance * float(peers["total"].norm())
