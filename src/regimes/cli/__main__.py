"""`python -m regimes.cli`: the same as the command `regimes`."""

from regimes.cli import app

if __name__ == "__main__":
    app(prog_name="regimes")
