"""The script for ``spark-submit``, which needs a file. It runs ``kg-reasoner spark`` in the session that spark-submit creates.

spark-submit --master yarn "$(kg-reasoner spark script)" materialise s3://bucket/data s3://bucket/out --ruleset owl2rl
"""

from __future__ import annotations

import sys

from kg_reasoner.cli import main

if __name__ == "__main__":
    main(["spark", *sys.argv[1:]], prog_name="kg-reasoner")
