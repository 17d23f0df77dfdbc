"""What pyarrow reads of closed days, as JSON. Usage: days_pyarrow.py <folder of days> <pool>"""

import hashlib
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder, pool = sys.argv[1:]


def table(name):
    paths = sorted(pathlib.Path(folder).glob(f"*/{name}-*.parquet"))
    return pa.concat_tables(pq.ParquetFile(path).read() for path in paths)


def named(kind):
    if pa.types.is_timestamp(kind):
        return f"timestamp[{kind.unit}, {kind.tz}]"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return str(kind)


figures = table("figures")
heads = {(row["pool"], row["slot"]): row["head"] for row in table("snapshots").to_pylist()}


def of_row(row):
    gap = row["token0_exit_gap_pct_1000"]
    head = heads[row["pool"], row["slot"]].encode()
    return [
        row["slot"],
        row["slot_time"].strftime("%Y-%m-%dT%H:%M:%SZ"),
        row["token0_depth_usd"],
        None if gap is None else str(gap),
        row["retracted_by_slot"],
        row["missing_reason"],
        "0x" + hashlib.sha256(head).hexdigest(),
    ]


print(
    json.dumps(
        {
            "rows": figures.num_rows,
            "types": {field.name: named(field.type) for field in figures.schema},
            "of_pool": [of_row(row) for row in figures.to_pylist() if row["pool"] == pool],
        }
    )
)
