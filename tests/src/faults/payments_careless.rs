//! The control: it settles like a service that stores nothing before it sends. It verifies, sends, waits for the
//! receipt, and only then stores the payment and answers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_api::x402::{Payment, RequestPayment};
use exitgap_chain::settle::{Authorization, HotKey, TokenNode, Verdict};
use exitgap_core::ids::{Address, Word};
use exitgap_server::config::CheckedConfig;
use exitgap_server::payments::Settle;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Result;

/// Where it answers, and as what.
#[derive(Debug, Args)]
pub struct Course {
    /// The configuration of the service whose control it is.
    #[arg(long)]
    config: PathBuf,
    /// Where it listens.
    #[arg(long)]
    listen: SocketAddr,
}

struct Careless {
    node: TokenNode,
    key: HotKey,
    target: (u64, Address),
    most_wei: u128,
    /// The nonce of the next transaction.
    next: Mutex<u64>,
    /// The answers by payment, and the file from which they are loaded at startup.
    answered: Mutex<BTreeMap<Word, String>>,
    file: PathBuf,
}

/// Serves until the process ends.
pub fn answer(course: &Course) -> Result<()> {
    let checked = CheckedConfig::from_file(&course.config)?;
    let planned = checked.config.payments.plan(&checked.plan);
    let (plan, chain) = planned.map_err(|(key, why)| format!("{key}: {why}"))?.ok_or("no price")?;
    let file = course.config.with_extension("answered");
    let lines = fs::read_to_string(&file).unwrap_or_default();
    let read = |line: &str| {
        Some((line.split_once(' ')?.0.parse().ok()?, line.split_once(' ')?.1.to_owned()))
    };
    let node = TokenNode::new(chain, plan.asset)?;
    let Settle::Local(hot_key_file) = &plan.settle else {
        return Err("it settles by itself".into());
    };
    let key = HotKey::from_file(hot_key_file)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let next = runtime.block_on(node.count(key.address(), soon()))?;
    let careless = Arc::new(Careless {
        node,
        key,
        target: (chain.chain_id(), plan.asset),
        most_wei: plan.max_fee_wei,
        next: Mutex::new(next),
        answered: Mutex::new(lines.lines().filter_map(read).collect()),
        file,
    });
    for stream in TcpListener::bind(course.listen)?.incoming().flatten() {
        let (careless, handle) = (Arc::clone(&careless), runtime.handle().clone());
        std::thread::spawn(move || careless.serve(&stream, &handle));
    }
    Ok(())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

impl Careless {
    /// Handles one request of a connection. A client that has gone reads no answer.
    fn serve(&self, stream: &TcpStream, runtime: &tokio::runtime::Handle) {
        let mut lines = BufReader::new(stream).lines().map_while(std::result::Result::ok);
        let Some(first) = lines.next() else { return };
        let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        let headers: BTreeMap<String, String> = lines
            .take_while(|line| !line.is_empty())
            .filter_map(|line| {
                let (name, value) = line.split_once(':')?;
                Some((name.to_ascii_lowercase(), value.trim().to_owned()))
            })
            .collect();
        let find = |name: &str| headers.get(&name.to_ascii_lowercase()).map(String::as_str);
        let (status, body) = match RequestPayment::find(find) {
            Ok(Some(RequestPayment::Payment(payment))) => {
                runtime.block_on(self.take(&payment, &path)).unwrap_or((503, String::new()))
            }
            _ => (402, String::new()),
        };
        let answer = format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = { stream }.write_all(answer.as_bytes());
    }

    /// Status and body of the answer to a payment.
    async fn take(&self, payment: &Payment, path: &str) -> Result<(u16, String)> {
        let nonce = payment.authorization.nonce;
        if let Some(found) = self.answered.lock().await.get(&nonce) {
            return Ok(if found == path { (200, found.clone()) } else { (409, String::new()) });
        }
        let authorization = authorization_of(payment);
        if self.node.verify(&authorization, self.key.address(), soon()).await? != Verdict::Good {
            return Ok((402, String::new()));
        }
        let transaction = self.send(&authorization).await?;
        let until = soon();
        while Instant::now() < until {
            if let Some(receipt) = self.node.receipt(transaction, soon()).await? {
                if !receipt.succeeded {
                    return Ok((402, String::new()));
                }
                self.write(nonce, path).await?;
                return Ok((200, path.to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok((503, String::new()))
    }

    async fn send(&self, authorization: &Authorization) -> Result<Word> {
        let mut next = self.next.lock().await;
        let count = self.node.count(self.key.address(), soon()).await?;
        let fees = self.node.fees(self.most_wei, soon()).await?;
        let number = count.max(*next);
        let signed = authorization.sign(&self.key, self.target, number, fees)?;
        // A transaction of an earlier process already has this nonce.
        *next = number + 1;
        self.node.broadcast(&signed, soon()).await?;
        Ok(signed.hash)
    }

    async fn write(&self, nonce: Word, path: &str) -> Result<()> {
        let mut answered = self.answered.lock().await;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.file)?;
        file.write_all(format!("{nonce} {path}\n").as_bytes())?;
        file.sync_all()?;
        answered.insert(nonce, path.to_owned());
        Ok(())
    }
}

fn authorization_of(payment: &Payment) -> Authorization {
    let authorization = &payment.authorization;
    Authorization {
        from: authorization.from,
        to: authorization.to,
        value: authorization.value.0,
        valid_after_s: authorization.valid_after_s,
        valid_before_s: authorization.valid_before_s,
        nonce: authorization.nonce,
        signature: payment.signature.clone(),
    }
}
