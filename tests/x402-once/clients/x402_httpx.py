"""x402 with httpx, the official client in Python, unchanged: calls until it has the new answer."""

import asyncio
import json
import os
import sys

from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm.exact import register_exact_evm_client

PAUSE_S = 1.2


async def main():
    client = x402Client()
    register_exact_evm_client(client, Account.from_key(os.environ["KEY"]))
    calls, answered = 0, False
    async with x402HttpxClient(client, timeout=30) as http:
        while not answered and calls < int(os.environ["CALLS"]):
            if calls:
                await asyncio.sleep(PAUSE_S)
            calls += 1
            try:
                response = await http.get(os.environ["URL"])
                answered = response.status_code == 200 and response.json().get("answer") == "new"
            except Exception as error:  # A call that fails is called again.
                print(f"call {calls}: {error!r}", file=sys.stderr)
    print(json.dumps({"calls": calls, "answered": answered}))


asyncio.run(main())
