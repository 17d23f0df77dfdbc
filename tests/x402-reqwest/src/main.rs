//! Pays for the address in `URL` with the key in `KEY`, and says what came of it as JSON on one line.

use std::error::Error;
use std::sync::Arc;

use alloy_signer_local::PrivateKeySigner;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use x402_chain_eip155::V2Eip155ExactClient;
use x402_reqwest::{ReqwestWithPayments, ReqwestWithPaymentsBuild, X402Client};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let signer: PrivateKeySigner = std::env::var("KEY")?.parse()?;
    let client = X402Client::new().register(V2Eip155ExactClient::new(Arc::new(signer)));
    let http = reqwest::Client::new().with_payments(client).build();
    let answer = http.get(std::env::var("URL")?).send().await?;
    let status = answer.status().as_u16();
    let told = answer.headers().get("payment-response").ok_or("no word on the payment")?;
    let told: Value = serde_json::from_slice(&STANDARD.decode(told)?)?;
    let body: Value = serde_json::from_slice(&answer.bytes().await?)?;
    println!("{}", json!({ "status": status, "success": told["success"], "body": body }));
    Ok(())
}
