"""Whether a Ray cluster answers at an address, found out before Ray waits for it for minutes."""

from __future__ import annotations

import os
import socket

from regimes.lab._executors import ExecutorError

_CLIENT = "ray://"
_WAIT = 7.0  # seconds, for the machine and once more for Ray on it
_WORDS = ("auto", "local")


def checked_address(address: str) -> str:
    """The address as given, if it has the form of one.

    >>> checked_address("10.0.0.5:6379"), checked_address("ray://head:10001")
    ('10.0.0.5:6379', 'ray://head:10001')
    """
    if address in _WORDS:
        return address
    host, colon, port = address.removeprefix(_CLIENT).rpartition(":")
    if not (host and colon and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(
            "a Ray address is HOST:PORT of the cluster's head, such as 10.0.0.5:6379, or "
            f"ray://HOST:PORT, or auto; got {address!r}"
        )
    return address


def check_answers(address: str) -> None:
    """Refuse an address at which no Ray cluster answers within seconds.

    Raises:
        ExecutorError: says whether the machine or Ray on it is missing.
    """
    if address in _WORDS:
        return
    host, _, port = address.removeprefix(_CLIENT).rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_WAIT).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise ExecutorError(
            f"nothing answers at the Ray address {address} ({why}); is the cluster up? "
            "`ray status` on its head tells"
        ) from None
    if os.environ.get("RAY_USE_TLS", "0") in ("0", ""):  # with keys only Ray itself can ask
        _check_speaks(address, f"{host}:{port}")


def _check_speaks(address: str, target: str) -> None:
    """Ask as Ray's own health check does; the servers for clients know no such question."""
    import grpc

    codes = grpc.StatusCode
    good = {codes.UNAUTHENTICATED, codes.PERMISSION_DENIED}
    if address.startswith(_CLIENT):
        good.add(codes.UNIMPLEMENTED)
    with grpc.insecure_channel(target) as channel:
        try:
            channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=_WAIT)
        except grpc.RpcError as error:
            if error.code() not in good:
                raise ExecutorError(
                    f"what answers at {address} is not Ray; give the address that `ray start` "
                    "printed"
                ) from None
