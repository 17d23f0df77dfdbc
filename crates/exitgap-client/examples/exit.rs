//! The verified exit gap of a sale: `cargo run --example exit -- <service> <pool> <size in USD>`.

use std::error::Error;

use exitgap_client::exitgap_core::ids::PoolId;
use exitgap_client::exitgap_core::units::SizeUsd;
use exitgap_client::{Client, LogWatch, Memory, Native};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [service, pool, size] = &arguments[..] else {
        return Err("give the URL of a service, a pool and a size in USD".into());
    };
    println!("{}", verified_gap(service, pool, size).await?);
    Ok(())
}

/// The gap, with every check made; an error that says why if anything is not proven.
pub async fn verified_gap(service: &str, pool: &str, size: &str) -> Result<String, Box<dyn Error>> {
    let client = Client::new(Native::new()?, service.parse()?);
    let (pool, size): (PoolId, SizeUsd) = (pool.parse()?, size.parse()?);
    // Without keys, the service's own key is trusted at the first use. A program that runs again stores what it saw.
    let memory = Memory::default();
    let found =
        LogWatch::new(&client, &memory, Vec::new()).estimate(&pool, size, None, None).await?;
    let gap = &found.exit.answer.figures.exit_gap_pct;
    Ok(format!("{gap}% worse than the oracle ({:?})", found.verification.report.report.verdict))
}
