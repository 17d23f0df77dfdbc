//! Pays for the address in `URL` with the key in `KEY` until it has the new answer, in at most `CALLS`
//! calls: the wallet as `tests/x402-once` tries it. Prints how often it called and whether it was
//! answered. Every payment is kept in the ledger at `LEDGER`.

use std::env;
use std::error::Error;
use std::time::Duration;

use exitgap_api::operations::Method;
use exitgap_client::{Native, Request, Transport};
use exitgap_pay::{Asset, Budget, Ledger, LocalSigner, Payees, PayingTransport, Policy, Window};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, calls) = (env::var("URL")?, env::var("CALLS")?.parse::<u32>()?);
    let network = "eip155:84532".parse()?;
    let budget = Budget {
        host: url.split('/').nth(2).unwrap_or_default().to_owned(),
        path_prefix: "/".to_owned(),
        network,
        limit: "1.00".parse()?,
        window: Window::Total,
    };
    let policy = Policy {
        max_per_call: "0.01".parse()?,
        budgets: vec![budget],
        networks: vec![network],
        assets: Asset::known(),
        payees: Payees::FirstUse,
    };
    let signer = LocalSigner::of_hex(&env::var("KEY")?)?;
    let ledger = Ledger::open(env::var("LEDGER")?.as_ref())?;
    // Impatient on purpose: later calls must continue with the same payment.
    let wallet = PayingTransport::new(Native::new()?, signer, policy, ledger)
        .with_max_wait(Duration::from_millis(400));
    let request = Request {
        method: Method::Get,
        body: Vec::new(),
        url,
        accept: "application/json",
        timeout: Duration::from_secs(30),
        max_bytes: 1 << 16,
        fresh: false,
        headers: Vec::new(),
    };
    let (mut called, mut answered) = (0, false);
    while !answered && called < calls {
        if called > 0 {
            wallet.pause(Duration::from_millis(1_200)).await;
        }
        called += 1;
        match wallet.send(&request).await {
            Ok(answer) => answered = String::from_utf8_lossy(&answer.body).contains("\"new\""),
            Err(error) => eprintln!("call {called}: {error}"),
        }
    }
    println!("{{\"calls\":{called},\"answered\":{answered}}}");
    Ok(())
}
