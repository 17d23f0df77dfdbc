"""The official Python client against the tools, over HTTP in both eras and over standard input and output.

python client.py <url of /mcp> <pool> <program> [its arguments…]
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

url, pool, program, *arguments = sys.argv[1:]
NAMES = [
    "list_pools",
    "estimate_exit",
    "max_exit_size",
    "simulate_orders",
    "depth_ladder",
    "exit_history",
    "fragility_board",
    "verify_evidence",
]


async def use(client: Client, by: str) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES, tools
    asked = [
        ("list_pools", {}),
        ("estimate_exit", {"pool": pool, "size_usd": 1000}),
        ("max_exit_size", {"pool": pool, "gap_pct": 2}),
        ("simulate_orders", {"pool": pool, "size_usd": 1000, "orders": 2}),
        ("depth_ladder", {"pool": pool}),
        ("exit_history", {"pool": pool, "size_usd": "1000"}),
        ("fragility_board", {}),
    ]
    evidence_url = None
    for name, given in asked:
        result = await client.call_tool(name, given)
        assert not result.is_error, result
        assert json.loads(result.content[0].text) == result.structured_content
        evidence_url = evidence_url or result.structured_content.get("evidence_url")
    verified = (await client.call_tool("verify_evidence", {"evidence_url": evidence_url})).structured_content
    assert (verified["verdict"], verified["verified_by"]) == ("valid", by), verified
    refused = await client.call_tool("estimate_exit", {"pool": pool, "size_usd": 1000, "require": "live"})
    assert refused.is_error and json.loads(refused.content[0].text)["code"] == "not_live", refused


async def main() -> None:
    for mode in ("auto", "legacy"):
        async with Client(url, mode=mode) as client:
            await use(client, "operator")
    async with Client(StdioServerParameters(command=program, args=arguments)) as client:
        await use(client, "here")
    print("sound")


asyncio.run(main())
