"""Make predictions of the sources' models: ``python -m papers DATA [HOLDOUTS [FILE]]``.

DATA is satellite, sonar, ionosphere, or a file of the ELENA phoneme data. By default there are as
many hold-outs as the embedded tables have, 20 for satellite and 30 for the others, and FILE is
DATA_predictions.parquet here.
"""

import sys
from pathlib import Path

from papers import accsens, satellite
from papers.elena import phoneme


def main() -> None:
    data, *more = sys.argv[1:]
    count = int(more[0]) if more else None
    file = Path(more[1] if len(more) > 1 else f"{Path(data).stem}_predictions.parquet")
    if data == "satellite":
        made = satellite.predictions(count or satellite.FOLDS)
    elif data in ("sonar", "ionosphere"):
        made = accsens.predictions(data, folds=count or accsens.FOLDS)
    else:
        made = accsens.predictions("phoneme", phoneme(data), count or accsens.FOLDS)
    made.write_parquet(file, compression="zstd", compression_level=22, statistics=False)
    print(file)


if __name__ == "__main__":
    main()
