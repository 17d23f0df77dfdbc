//! A service that is paid: a few lines of HTTP of the harness's own, which answer 402 with the three
//! offers and take every payment that is one. It settles whatever it was sent, also what it calls
//! failed: what it counts is what left the wallets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use alloy::primitives::{B256, Signature};
use exitgap_api::x402::{Payment, Presented, Priced, Settlement, Terms, Units};
use exitgap_core::ids::{Address, Word};
use exitgap_pay::{Asset, TypedData};

use super::Result;

/// What one answer costs: 0.01 USDC.
pub const PRICE: u128 = 10_000;

/// The chain that it is paid on: Base Sepolia.
pub const CHAIN: u64 = 84532;

/// How it answers a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// With 200.
    Honest,
    /// With 402 and `success: false`, and settles it all the same.
    SaysFailed,
}

/// The service, listening until the process ends.
pub struct Shop {
    /// Where it listens.
    pub address: SocketAddr,
    taken: Arc<Mutex<Taken>>,
}

/// What was sent to it.
#[derive(Debug, Default, Clone)]
pub struct Taken {
    /// Distinct authorizations and their values, by nonce.
    pub payments: BTreeMap<Word, u128>,
    /// Requests that carried what is no payment, and why it is none.
    pub refused: Vec<String>,
    /// Requests without a payment.
    pub unpaid: usize,
}

impl Taken {
    /// All that could be settled, in units.
    pub fn units(&self) -> u128 {
        self.payments.values().sum()
    }
}

impl Shop {
    /// Begins to listen. With `verifies`, a payment whose signature is not its payer's is refused.
    pub fn open(ways: Ways, verifies: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let taken = Arc::new(Mutex::new(Taken::default()));
        let log = Arc::clone(&taken);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || serve(stream, address, ways, verifies, &log));
            }
        });
        Ok(Self { address, taken })
    }

    /// What was sent to it so far.
    pub fn taken(&self) -> Taken {
        lock(&self.taken).clone()
    }

    /// What is paid for.
    pub fn url(&self) -> String {
        format!("http://{}/v1/exit/ethereum:0x88e6?size_usd=250000", self.address)
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

fn priced(address: SocketAddr, path: &str) -> Option<Priced> {
    let usdc = Asset::known().into_iter().find(|asset| asset.network.0 == CHAIN)?;
    Some(Priced {
        terms: Terms {
            network: usdc.network,
            asset: usdc.address,
            pay_to: Address([0x20; 20]),
            amount: Units(PRICE),
            max_timeout_s: 120,
            domain: usdc.domain,
        },
        currency: "USDC".to_owned(),
        decimals: 6,
        url: format!("http://{address}{path}"),
        description: "what this size fills at now".to_owned(),
        error: "payment required".to_owned(),
    })
}

/// One request of a connection. What breaks off is the client's.
fn serve(stream: TcpStream, address: SocketAddr, ways: Ways, verifies: bool, log: &Mutex<Taken>) {
    let mut lines = BufReader::new(&stream).lines().map_while(std::result::Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let headers: Vec<(String, String)> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect();
    let find = |name: &str| {
        let found = headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    };
    let Some(priced) = priced(address, &path) else { return };
    let (status, more, body) = match Presented::find(find) {
        Ok(None) => {
            lock(log).unpaid += 1;
            offer(&priced)
        }
        Ok(Some(Presented::Payment(payment))) => match check(&payment, &priced.terms, verifies) {
            Ok(()) => {
                let Payment { authorization, .. } = &*payment;
                lock(log).payments.insert(authorization.nonce, authorization.value.0);
                taken(&payment, ways)
            }
            Err(why) => refused(log, why),
        },
        Ok(Some(Presented::Proof(_))) => refused(log, "a proof".to_owned()),
        Err(error) => refused(log, error.to_string()),
    };
    let head: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-type: application/json\r\n{head}\
         content-length: {length}\r\n\r\n{body}"
    );
    // A wallet that was killed reads no more.
    let _ = (&stream).write_all(answer.as_bytes());
}

type Answer = (u16, Vec<(&'static str, String)>, String);

fn offer(priced: &Priced) -> Answer {
    let members = priced.body_members();
    let body = serde_json::to_string(&members).unwrap_or_default();
    (402, priced.headers().to_vec(), body)
}

fn refused(log: &Mutex<Taken>, why: String) -> Answer {
    lock(log).refused.push(why);
    (400, Vec::new(), "{}".to_owned())
}

fn taken(payment: &Payment, ways: Ways) -> Answer {
    let success = ways == Ways::Honest;
    let settlement = Settlement {
        success,
        error_reason: (!success).then(|| "insufficient_funds".to_owned()),
        transaction: if success { Word([0x12; 32]).to_string() } else { String::new() },
        network: payment.network_name(),
        payer: None,
    };
    let header = (Settlement::header_name(payment.version), settlement.to_header());
    (if success { 200 } else { 402 }, vec![header], "{}".to_owned())
}

/// Whether it is a payment of exactly these terms, signed by its payer.
fn check(payment: &Payment, terms: &Terms, verifies: bool) -> std::result::Result<(), String> {
    let Payment { authorization, signature, network, .. } = payment;
    let asked = (terms.network, terms.pay_to, terms.amount);
    if (*network, authorization.to, authorization.value) != asked {
        return Err("another chain, payee or amount than asked for".to_owned());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if authorization.valid_before_s <= now {
        return Err("it has expired".to_owned());
    }
    if !verifies {
        return Ok(());
    }
    let Terms { network, asset, domain, .. } = terms.clone();
    let data = TypedData { network, asset, domain, authorization: authorization.clone() };
    let signature = Signature::from_raw(signature).map_err(|error| error.to_string())?;
    let signer = signature.recover_address_from_prehash(&B256::from(data.hash()));
    let signer = signer.map_err(|error| error.to_string())?;
    if signer.into_array() == authorization.from.0 {
        return Ok(());
    }
    Err("the signature is not the payer's".to_owned())
}
