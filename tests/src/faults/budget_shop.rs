//! A paid service: a few lines of HTTP in this test harness, which answer 402 with the three offers and accept every
//! valid payment. It settles everything it receives, including payments that it reports as failed: its count is what
//! left the wallets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use alloy::primitives::{B256, Signature};
use exitgap_api::x402::{Payment, PricedOffer, RequestPayment, Settlement, Terms, Units};
use exitgap_core::ids::{Address, Word};
use exitgap_pay::{Asset, TypedData};

use super::Result;

/// The price of one answer: 0.01 USDC.
pub const PRICE: u128 = 10_000;

/// Every byte of the signature of a wallet in Node.js (`tests/js/pay/payer.mjs`).
const IN_NODE: u8 = 0x11;

/// The payment chain: Base Sepolia.
pub const CHAIN: u64 = 84532;

/// Its answer to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// With 200.
    Honest,
    /// With 402 and `success: false`, and settles it all the same.
    SaysFailed,
}

/// The service, which listens until the process ends.
pub struct Shop {
    /// Its address.
    pub address: SocketAddr,
    taken: Arc<Mutex<Taken>>,
}

/// What it received.
#[derive(Debug, Default, Clone)]
pub struct Taken {
    /// Values of distinct authorizations, by nonce.
    pub payments: BTreeMap<Word, u128>,
    /// The reasons why requests had invalid payments.
    pub refused: Vec<String>,
    /// Number of requests without a payment.
    pub unpaid: usize,
}

impl Taken {
    /// The sum of everything that could be settled, in units.
    pub fn units(&self) -> u128 {
        self.payments.values().sum()
    }
}

impl Shop {
    /// Starts listening. With `verifies`, a payment with a wrong signature is rejected, except that
    /// of a wallet in Node.js, which has none.
    pub fn open(ways: Ways, verifies: bool) -> Result<Self> {
        Self::before(None, ways, verifies)
    }

    /// The same in front of a service, which answers paid and free requests.
    pub fn before(service: Option<SocketAddr>, ways: Ways, verifies: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let taken = Arc::new(Mutex::new(Taken::default()));
        let till = Till { address, service, ways, verifies, log: Arc::clone(&taken) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let till = till.clone();
                std::thread::spawn(move || till.serve(&stream));
            }
        });
        Ok(Self { address, taken })
    }

    /// What it has received so far.
    pub fn taken(&self) -> Taken {
        lock(&self.taken).clone()
    }

    /// The paid URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1/exit/ethereum:0x88e6?size_usd=250000", self.address)
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

fn priced(address: SocketAddr, path: &str) -> Option<PricedOffer> {
    let usdc = Asset::known().into_iter().find(|asset| asset.network.0 == CHAIN)?;
    Some(PricedOffer {
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

/// The request handler.
#[derive(Clone)]
struct Till {
    address: SocketAddr,
    service: Option<SocketAddr>,
    ways: Ways,
    verifies: bool,
    log: Arc<Mutex<Taken>>,
}

/// A status, headers and a body.
type Answer = (u16, Vec<(&'static str, String)>, String);

impl Till {
    /// Handles one request of a connection. Errors are ignored: a killed wallet does not read its answer.
    fn serve(&self, stream: &TcpStream) {
        let mut lines = BufReader::new(stream).lines().map_while(std::result::Result::ok);
        let Some(first) = lines.next() else { return };
        let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        let headers: Vec<(String, String)> = lines
            .take_while(|line| !line.is_empty())
            .filter_map(|line| {
                let (name, value) = line.split_once(':')?;
                Some((name.to_ascii_lowercase(), value.trim().to_owned()))
            })
            .collect();
        if let (Some(service), false) = (self.service, path.starts_with("/v1/exit/")) {
            let _ = pass_on(service, &path, &[], stream);
            return;
        }
        let Some((status, more, body)) = self.answer(&path, &headers) else { return };
        if let (Some(service), 200) = (self.service, status) {
            let _ = pass_on(service, &path, &more, stream);
            return;
        }
        let length = body.len();
        let head = lines_of(&more);
        let answer = format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-type: application/json\r\n{head}\
             content-length: {length}\r\n\r\n{body}"
        );
        let _ = { stream }.write_all(answer.as_bytes());
    }

    fn answer(&self, path: &str, headers: &[(String, String)]) -> Option<Answer> {
        let find = |name: &str| {
            let found = headers.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.as_str())
        };
        let priced = priced(self.address, path)?;
        Some(match RequestPayment::find(find) {
            Ok(None) => {
                lock(&self.log).unpaid += 1;
                offer(&priced)
            }
            Ok(Some(RequestPayment::Payment(payment))) => {
                match check(&payment, &priced.terms, self.verifies) {
                    Ok(()) => {
                        let Payment { authorization, .. } = &*payment;
                        let mut log = lock(&self.log);
                        log.payments.insert(authorization.nonce, authorization.value.0);
                        taken(&payment, self.ways)
                    }
                    Err(why) => self.refused(why),
                }
            }
            Ok(Some(RequestPayment::Proof(_))) => self.refused("a proof".to_owned()),
            Err(error) => self.refused(error.to_string()),
        })
    }

    fn refused(&self, why: String) -> Answer {
        lock(&self.log).refused.push(why);
        (400, Vec::new(), "{}".to_owned())
    }
}

fn lines_of(headers: &[(&'static str, String)]) -> String {
    headers.iter().fold(String::new(), |lines, (name, value)| lines + name + ": " + value + "\r\n")
}

/// Forwards a request to a service, with additional headers.
fn pass_on(
    service: SocketAddr,
    path: &str,
    more: &[(&'static str, String)],
    mut to: &TcpStream,
) -> Result<()> {
    let mut asked = TcpStream::connect(service)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {service}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    asked.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    asked.read_to_end(&mut answer)?;
    let end = answer.windows(2).position(|two| two == b"\r\n").ok_or("no answer")? + 2;
    let (status, rest) = answer.split_at(end);
    to.write_all(&[status, lines_of(more).as_bytes(), rest].concat())?;
    Ok(())
}

fn offer(priced: &PricedOffer) -> Answer {
    let members = priced.body_members();
    let body = serde_json::to_string(&members).unwrap_or_default();
    (402, priced.headers().to_vec(), body)
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
    // With this header a wallet sends the same payment again without a pause.
    let soon = ("retry-after", "0".to_owned());
    (if success { 200 } else { 402 }, vec![header, soon], "{}".to_owned())
}

/// Whether it is a payment with exactly these terms, signed by its payer.
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
    // Whichever wallet is first pays, and those in Node.js do not sign.
    if !verifies || signature.iter().all(|byte| *byte == IN_NODE) {
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
    Err("the signature is not from the payer".to_owned())
}
