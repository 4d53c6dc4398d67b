import os
import signal
import threading

from regimes.lab import Stop


def test_the_first_signal_asks_and_the_second_insists():
    before = signal.getsignal(signal.SIGTERM)
    with Stop(grace=1000) as stop:
        assert not stop.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.requested
        assert not stop.overdue
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.overdue
        assert stop.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_grace_runs_out():
    stop = Stop(grace=0.0)
    assert not stop.overdue
    stop.request()
    assert stop.overdue


def test_outside_the_main_thread_nothing_is_installed():
    before = signal.getsignal(signal.SIGINT)

    def enter():
        with Stop() as stop:
            seen.append((signal.getsignal(signal.SIGINT), stop.requested))

    seen = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [(before, False)]
