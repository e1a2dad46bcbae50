"""What the functions of polaroc do with a table of ibis: they run where it is."""

from polaroc.predictions.engines import Engine
from polaroc.warehouse.calibration import probabilities
from polaroc.warehouse.connections import collected
from polaroc.warehouse.curves import curve
from polaroc.warehouse.evaluation import evaluate
from polaroc.warehouse.predictions import described

ENGINE = Engine(
    title="a warehouse table",
    describe=described,
    collected=collected,
    functions={
        "curve": curve, "evaluate": evaluate, "probabilities": probabilities,
    },
)  # fmt: skip
