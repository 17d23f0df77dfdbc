"""What DuckDB reads of closed days, as JSON. Usage: days_duckdb.py <folder of days> <pool>"""

import hashlib
import json
import sys

import duckdb

folder, pool = sys.argv[1:]
days = duckdb.connect()
days.execute("set timezone = 'UTC'")
figures = f"read_parquet('{folder}/*/figures-*.parquet')"
snapshots = f"read_parquet('{folder}/*/snapshots-*.parquet')"
named = {
    "TIMESTAMP WITH TIME ZONE": "timestamp[ms, UTC]",
    "DECIMAL(18,6)": "decimal(18,6)",
    "BIGINT": "int64",
    "INTEGER": "int32",
    "BOOLEAN": "bool",
    "VARCHAR": "string",
}
types = days.execute(f"describe select * from {figures}").fetchall()
of_pool = days.execute(
    f"""
    select f.slot, strftime(f.slot_time, '%Y-%m-%dT%H:%M:%SZ'), f.token0_depth_usd,
           cast(f.token0_exit_gap_pct_1000 as varchar), f.retracted_by_slot, f.missing_reason, s.head
    from {figures} f join {snapshots} s using (pool, slot)
    where f.pool = ? order by f.slot
    """,
    [pool],
).fetchall()
print(
    json.dumps(
        {
            "rows": days.execute(f"select count(*) from {figures}").fetchone()[0],
            "types": {name: named[kind] for name, kind, *_ in types},
            "of_pool": [
                [*row, "0x" + hashlib.sha256(head.encode()).hexdigest()] for *row, head in of_pool
            ],
        }
    )
)
