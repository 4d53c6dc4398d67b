"""`python -m regimes` does what `regimes` does, where no script was installed."""

from regimes.cli import app

if __name__ == "__main__":
    app(prog_name="regimes")
