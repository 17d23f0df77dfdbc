//! A paid answer: the real token on the private chain, a service with a price, the `exitgap` program that pays it once,
//! and a verification of everything it received.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Plain;

use crate::devchain::PrivateKeySigner;
use alloy::primitives::{Address, U256};
use tokio::process::{Child, Command};

use super::play::Day;
use super::recorder_config::{PaidTo, payments_config};
use super::serve::{free_address, wait_until_ready};
use super::{Demo, run, step};
use crate::devchain::{DevChain, Usdc, World};

/// The requested size, in USD.
const SIZE_USD: &str = "50000";

/// The payer's initial balance: enough for three answers, in token units.
const PURSE: u64 = 30_000;

/// Worthless keys for this demonstration: the payer's, and the one that pays gas fees.
const PAYER: [u8; 32] = [0x11; 32];
const FEES: [u8; 32] = [0x22; 32];

/// The payee.
const PAYEE: Address = Address::repeat_byte(0x77);

/// Exit codes of `exitgap`: the answer has a price; nothing more is paid; the verification failed.
const UNPAID: i32 = 5;
const NOT_PAID: i32 = 8;
const INVALID: i32 = 6;

/// A buyer and a service with a price.
struct Scene<'a> {
    demo: &'a Demo,
    chain: &'a DevChain,
    usdc: Usdc,
    api: String,
    pool: String,
    log: PathBuf,
    /// The service, which ends with the scene.
    _service: Child,
}

/// Pays once, and verifies what it received.
pub async fn pay_once(
    demo: &Demo,
    chain: &DevChain,
    world: &World,
    day: &Day,
) -> Result<(), Box<dyn Error>> {
    let scene = Scene::new(demo, chain, world, day).await?;
    step("asking without paying: the service names its price");
    scene.exitgap(&["exit", &scene.pool, "--size-usd", SIZE_USD, "--api", &scene.api], UNPAID)?;
    let before = scene.balances().await?;
    step("paying once, by a signature, within a budget that has room for one answer");
    let answer = scene.pay(&["--receipt", "receipt.jws"], 0)?;
    fs::write(demo.folder.join("answer.json"), &answer)?;
    println!("{}", gap(&answer)?);
    let after = scene.balances().await?;
    println!("payer   {:>6} -> {:>6} units of USDC", before.0, after.0);
    println!("payee   {:>6} -> {:>6} units of USDC", before.1, after.1);
    if (before.0 - after.0, after.1 - before.1) != (U256::from(10_000), U256::from(10_000)) {
        return Err("the token did not move the price from payer to payee".into());
    }
    step("paying again: the budget is spent, and nothing is signed");
    scene.pay(&[], NOT_PAID)?;
    if scene.balances().await? != after {
        return Err("more was paid than the budget allows".into());
    }
    scene.check(&answer).await
}

/// The gap in a paid answer.
fn gap(answer: &[u8]) -> Result<String, Box<dyn Error>> {
    let document: serde_json::Value = serde_json::from_slice(answer)?;
    Ok(format!("exit_gap_pct {}, at {SIZE_USD} USD", document["exit_gap_pct"]))
}

impl<'a> Scene<'a> {
    async fn new(
        demo: &'a Demo,
        chain: &'a DevChain,
        world: &World,
        day: &Day,
    ) -> Result<Self, Box<dyn Error>> {
        step("putting Circle's FiatTokenV2_2 (USDC) on the chain, and giving a payer 0.03 of it");
        let usdc = Usdc::deploy(chain, super::CHAIN_ID).await?;
        let payer = PrivateKeySigner::from_slice(&PAYER)?.address();
        chain.mine_next(&[usdc.fund(chain, payer, PURSE)]).await?;
        let fees = PrivateKeySigner::from_slice(&FEES)?.address();
        chain.set_balance(fees, U256::from(10).pow(U256::from(18))).await?;
        let _: serde_json::Value = chain.rpc("evm_setAutomine", (true,)).await?;

        step("enabling payments: a price of 0.01 USDC, and the key that signs receipts");
        secret(&demo.folder.join("payer.key"), &alloy::hex::encode(PAYER))?;
        secret(&demo.folder.join("payments-hot.key"), &format!("0x{}", alloy::hex::encode(FEES)))?;
        run(
            &demo.server,
            &["key", "receipts", "--out"],
            &demo.folder.join("payments-receipt.key"),
        )?;
        let paid = PaidTo {
            chain: "anvil",
            asset: usdc.address,
            pay_to: PAYEE,
            hot_key_file: Path::new("payments-hot.key"),
        };
        let mut config = fs::OpenOptions::new().append(true).open(&day.config)?;
        config.write_all(payments_config(&paid).as_bytes())?;
        drop(config);
        let address = free_address("")?;
        let mut serve = Command::new(&demo.server);
        serve.args(["serve", "--no-record", "--listen", &address, "--config"]).arg(&day.config);
        let mut service = serve.kill_on_drop(true).spawn()?;
        wait_until_ready(&mut service, &address).await?;
        let api = format!("http://{address}");
        let pool = format!("anvil:{:#x}", world.pools[0].pool.address);
        let log = day.log.clone();
        Ok(Self { demo, chain, usdc, api, pool, log, _service: service })
    }

    /// The balances of payer and payee, in units.
    async fn balances(&self) -> Result<(U256, U256), Box<dyn Error>> {
        let payer = PrivateKeySigner::from_slice(&PAYER)?.address();
        let of = async |account| self.usdc.balance(self.chain, account).await;
        Ok((of(payer).await?, of(PAYEE).await?))
    }

    /// Runs `exitgap` as a user would, and requires its exit code; returns its output.
    fn output(&self, words: &[&str], expected: i32) -> Result<Vec<u8>, Box<dyn Error>> {
        println!("\n$ exitgap {}", words.join(" "));
        let mut command = Plain::new(&self.demo.cli);
        command.args(words).current_dir(&self.demo.folder);
        let output = command.stderr(std::process::Stdio::inherit()).output()?;
        if output.status.code() != Some(expected) {
            return Err(format!("exitgap ended with {}, not with {expected}", output.status).into());
        }
        Ok(output.stdout)
    }

    /// The same, with visible output.
    fn exitgap(&self, words: &[&str], expected: i32) -> Result<(), Box<dyn Error>> {
        Ok(std::io::stdout().write_all(&self.output(words, expected)?)?)
    }

    /// Requests and pays; returns the answer.
    fn pay(&self, more: &[&str], expected: i32) -> Result<Vec<u8>, Box<dyn Error>> {
        let asset = format!("eip155:{}/{:#x}/USDC/USDC/2", super::CHAIN_ID, self.usdc.address);
        let network = format!("eip155:{}", super::CHAIN_ID);
        let asked = ["exit", &self.pool, "--size-usd", SIZE_USD, "--api", &self.api, "--json"];
        let wallet = ["--pay", "--pay-key", "payer.key", "--max-per-call", "0.02"];
        let budget = ["--budget", "0.01/24h", "--ledger", "spent.jsonl"];
        let token = ["--network", &network, "--asset", &asset];
        self.output(&[&asked[..], &wallet, &budget, &token, more].concat(), expected)
    }

    /// Verifies receipt, answer and evidence, and that a modified answer is rejected.
    async fn check(&self, answer: &[u8]) -> Result<(), Box<dyn Error>> {
        step("checking the receipt offline: its key, the answer's bytes, the evidence's snapshot");
        let get = async |url: &str| reqwest::get(url).await?.error_for_status()?.bytes().await;
        let write = |name: &str, bytes: &[u8]| fs::write(self.demo.folder.join(name), bytes);
        write("payments.json", &get(&format!("{}/v1/payments", self.api)).await?)?;
        let document: serde_json::Value = serde_json::from_slice(answer)?;
        let evidence = document["evidence_url"].as_str().ok_or("the answer names no evidence")?;
        write("paid-evidence.json", &get(evidence).await?)?;
        let verify = ["verify-receipt", "receipt.jws", "--key", "payments.json"];
        let all = ["--answer", "answer.json", "--evidence", "paid-evidence.json"];
        self.exitgap(&[&verify[..], &all].concat(), 0)?;
        step("the same with one digit of the answer changed");
        let text = String::from_utf8(answer.to_vec())?;
        let field = "\"exit_gap_pct\":";
        let at = text.find(field).ok_or("the answer states no gap")? + field.len();
        let digit = text[at..].find(|c: char| c.is_ascii_digit()).ok_or("it has no digit")?;
        let mut changed = text.into_bytes();
        changed[at + digit] = if changed[at + digit] == b'9' { b'8' } else { b'9' };
        write("changed-answer.json", &changed)?;
        self.exitgap(&[&verify[..], &["--answer", "changed-answer.json"]].concat(), INVALID)?;
        step("and the number itself: its evidence, against the published log");
        let key = self.log.join("verifier-key");
        let key = key.to_str().ok_or("the folder's name is no text")?;
        self.exitgap(&["verify", "paid-evidence.json", "--trust", key], 0)?;
        println!("\nAll of it lies in {}.", self.demo.folder.display());
        Ok(())
    }
}

/// Writes a file that only its owner can read.
fn secret(path: &PathBuf, text: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")
}
