"""The entry point of ``python -m simulations``: simulations/run.py."""

from simulations.run import main

main()
