"""The script for ``spark-submit``, which takes the path of a file: it does what ``kg-reasoner spark`` does, in Spark's own session.

spark-submit --master yarn "$(kg-reasoner spark script)" materialise s3://bucket/data s3://bucket/out --ruleset owl2rl
"""

from __future__ import annotations

import sys

from kg_reasoner.cli import main

if __name__ == "__main__":
    main(["spark", *sys.argv[1:]], prog_name="kg-reasoner")
