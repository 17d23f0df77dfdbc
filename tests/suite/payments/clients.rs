//! The official, unmodified clients with the real service. `cargo xtask test --all` installs those of npm and Python's
//! index into `.fixtures`, and builds the Rust client from `tests/x402-reqwest`, which has its own lock file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_tests::fixtures;
use serde_json::Value;

use crate::scenes::till::Till;

/// Pays with version 1.
const V1: &str = "
import {wrapFetchWithPayment, createSigner, decodeXPaymentResponse} from 'x402-fetch';
const signer = await createSigner('base-sepolia', process.env.KEY);
const r = await wrapFetchWithPayment(fetch, signer)(process.env.URL);
const p = decodeXPaymentResponse(r.headers.get('x-payment-response'));
console.log(JSON.stringify({status: r.status, success: p.success, body: await r.json()}));
process.exit(0);
";

const V2: &str = "
import {wrapFetchWithPayment, x402Client, decodePaymentResponseHeader} from '@x402/fetch';
import {registerExactEvmScheme} from '@x402/evm/exact/client';
import {privateKeyToAccount} from 'viem/accounts';
const client = new x402Client();
registerExactEvmScheme(client, {signer: privateKeyToAccount(process.env.KEY)});
const r = await wrapFetchWithPayment(fetch, client)(process.env.URL);
const p = decodePaymentResponseHeader(r.headers.get('payment-response'));
console.log(JSON.stringify({status: r.status, success: p.success, body: await r.json()}));
process.exit(0);
";

const HTTPX: &str = "
import asyncio, base64, json, os
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm.exact import register_exact_evm_client
async def main():
    client = x402Client()
    register_exact_evm_client(client, Account.from_key(os.environ['KEY']))
    async with x402HttpxClient(client, timeout=30) as http:
        r = await http.get(os.environ['URL'])
        p = json.loads(base64.b64decode(r.headers['payment-response']))
        print(json.dumps({'status': r.status_code, 'success': p['success'], 'body': r.json()}))
asyncio.run(main())
";

const REQUESTS: &str = "
import base64, json, os
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm.exact import register_exact_evm_client
client = x402ClientSync()
register_exact_evm_client(client, Account.from_key(os.environ['KEY']))
r = x402_requests(client).get(os.environ['URL'], timeout=30)
p = json.loads(base64.b64decode(r.headers['payment-response']))
print(json.dumps({'status': r.status_code, 'success': p['success'], 'body': r.json()}))
";

/// A client and the command that runs it.
struct Client {
    name: &'static str,
    command: Command,
}

/// A Node.js script next to the packages that it imports: Node.js resolves modules relative to the script.
fn in_node(name: &'static str, tree: &str, script: &str) -> Client {
    let folder = fixtures::folder().join(tree);
    let file = folder.join("exitgap-pays.mjs");
    fs::write(&file, script).unwrap_or_else(|error| {
        panic!("{}: {error}; run `cargo xtask test --all`", file.display());
    });
    let mut command = Command::new("node");
    command.arg(file).current_dir(folder);
    Client { name, command }
}

fn in_python(name: &'static str, script: &str) -> Client {
    let mut command = Command::new(fixtures::folder().join("x402-python/bin/python"));
    command.args(["-c", script]);
    Client { name, command }
}

/// The Rust client, built with its own lock file.
fn in_rust(name: &'static str) -> Client {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("x402-reqwest");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--locked"]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", fixtures::folder().join("x402-reqwest"));
    Client { name, command }
}

impl Client {
    /// Pays for the answer; on failure, returns the reason.
    fn pay(&mut self, url: &str) -> Result<(), String> {
        let key = format!("0x{}", "11".repeat(32));
        let ran = self.command.env("URL", url).env("KEY", key).output();
        let ran = ran.map_err(|error| format!("{error}; run `cargo xtask test --all`"))?;
        let (said, failed) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let answer = serde_json::from_str::<Value>(said.trim()).unwrap_or_default();
        let paid = answer["status"] == 200
            && answer["success"] == true
            && answer["body"]["exit_gap_pct"].is_number();
        if paid { Ok(()) } else { Err(format!("{said} {failed}")) }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "fetches and builds the official clients: `cargo xtask test --all` runs it"]
async fn the_official_clients_pay_and_are_answered() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let url = format!("http://{}{}", service.address, till.target());
    let mut clients = [
        in_node("x402-fetch (npm)", "x402-v1-client", V1),
        in_node("@x402/fetch (npm)", "x402-clients", V2),
        in_python("x402 with httpx (PyPI)", HTTPX),
        in_python("x402 with requests (PyPI)", REQUESTS),
        in_rust("x402-reqwest (crates)"),
    ];
    let (mut paid, mut failed) = (0, Vec::new());
    for client in &mut clients {
        match client.pay(&url) {
            Ok(()) => {
                paid += 1;
                eprintln!("{} paid and was answered", client.name);
            }
            Err(why) => failed.push(format!("{}: {why}", client.name)),
        }
        assert_eq!(till.prices_paid().await, paid, "{}: once", client.name);
    }
    let measured: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/measured");
    fs::create_dir_all(&measured).unwrap();
    let told = format!("{paid} of {}", clients.len());
    fs::write(measured.join("x402.clients_paid"), told).unwrap();
    assert!(failed.is_empty(), "{failed:#?}");
}
