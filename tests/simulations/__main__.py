"""What ``python -m simulations`` runs: simulations/run.py."""

from simulations.run import main

main()
