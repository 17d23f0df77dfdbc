//! Paying clients: each wants one estimate, requests it from many processes concurrently and repeatedly with its signed
//! payment, and signs another one only if it is told that nothing was charged.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use alloy::primitives::{B256, U256};
use exitgap_api::x402::{Offer, Offers, PAYMENT_REQUIRED};
use tokio::time::Instant;

use super::Result;
use super::payments_books::Books;
use super::payments_scene::{Process, Scene};
use crate::devchain::Rng;

/// The smallest requested size. Each wish requests another size, a thief a larger one.
const SIZE: u64 = 1_000;
const STOLEN: u64 = 40_000;

/// The processes that clients ask, and the record of the results.
pub struct Crowd {
    /// The chain and the payers.
    pub scene: Arc<Scene>,
    /// The answering processes.
    pub processes: Vec<Process>,
    /// What was signed and received.
    pub books: Books,
    /// How long a client keeps asking.
    patience: Duration,
    offer: Offer,
    http: reqwest::Client,
    kept: Mutex<BTreeMap<B256, Signed>>,
}

/// A signed payment.
#[derive(Clone)]
struct Signed {
    nonce: B256,
    size: u64,
    header: (&'static str, String),
}

/// A process's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// An answer.
    Answer,
    /// Nothing was charged.
    Uncharged,
    /// The payment was used for something else.
    Used,
    /// No answer, or no known outcome yet.
    Open,
}

impl Crowd {
    /// Clients of these processes, whose price is `offer`.
    pub fn new(
        scene: Arc<Scene>,
        processes: Vec<Process>,
        offer: Offer,
        patience: Duration,
    ) -> Result<Self> {
        let (http, books, kept) = (http()?, Books::default(), Mutex::default());
        Ok(Self { scene, processes, books, patience, offer, http, kept })
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<B256, Signed>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One client's wish: paid for, and then requested `again` more times. It asks process `first` first.
    pub async fn wish(self: Arc<Self>, number: u64, first: usize, again: u64, seed: u64) {
        let mut rng = Rng::new(seed ^ number.wrapping_mul(0x9E37_79B9));
        let size = SIZE + number % 30_000;
        let until = Instant::now() + self.patience;
        let mut asked = first;
        while Instant::now() < until {
            let Ok(signed) = self.sign(number, size, &mut rng) else { return };
            let mut wanted = size;
            loop {
                let heard = self.race(&signed, wanted, asked, &mut rng).await;
                asked = self.any(&mut rng);
                match heard {
                    Heard::Answer => return self.repeat(&signed, wanted, again, &mut rng).await,
                    // Its thief came first: repeat the request that was paid for until it is answered, too.
                    Heard::Used if wanted == size => wanted = size + STOLEN,
                    Heard::Used => return,
                    Heard::Uncharged => break,
                    Heard::Open if Instant::now() > until => return,
                    Heard::Open => {
                        tokio::time::sleep(Duration::from_millis(200 + rng.below(400))).await;
                    }
                }
            }
        }
    }

    /// Asks one or several processes at once, and occasionally, like a thief, for another size.
    async fn race(&self, signed: &Signed, size: u64, first: usize, rng: &mut Rng) -> Heard {
        let others = if rng.once_in(3) { 1 + rng.below(3) } else { 0 };
        let [second, third] = [self.any(rng), self.any(rng)];
        let thief = size < STOLEN && rng.once_in(12);
        let own = self.ask(first, size, signed);
        if others == 0 && !thief {
            return own.await;
        }
        let stolen = if thief { size + STOLEN } else { size };
        let (own, other, another) =
            tokio::join!(own, self.ask(second, size, signed), self.ask(third, stolen, signed));
        let known = |heard: &Heard| *heard != Heard::Open;
        let heard = [own, other].into_iter().find(known).unwrap_or(Heard::Open);
        if stolen == size && heard == Heard::Open { another } else { heard }
    }

    /// Repeats a paid request to any process, and occasionally uses the payment for something else.
    async fn repeat(&self, signed: &Signed, size: u64, again: u64, rng: &mut Rng) {
        const AT_ONCE: u64 = 4;
        for _ in 0..again / AT_ONCE {
            let sizes: Vec<u64> = (0..AT_ONCE)
                .map(|_| if rng.once_in(10) { size + 2 * STOLEN } else { size })
                .collect();
            let places: Vec<usize> = sizes.iter().map(|_| self.any(rng)).collect();
            let _ = tokio::join!(
                self.ask(places[0], sizes[0], signed),
                self.ask(places[1], sizes[1], signed),
                self.ask(places[2], sizes[2], signed),
                self.ask(places[3], sizes[3], signed),
            );
        }
    }

    /// A client that has lost its answer asks again with the same payment, each process in turn, with the thief's
    /// request if the thief was first.
    pub async fn come_again(&self, nonce: B256) {
        let Some(signed) = self.kept().get(&nonce).cloned() else { return };
        for process in 0..self.processes.len() {
            for size in [signed.size, signed.size + STOLEN] {
                if self.ask(process, size, &signed).await == Heard::Answer {
                    return;
                }
            }
        }
    }

    fn any(&self, rng: &mut Rng) -> usize {
        usize::try_from(rng.below(self.processes.len() as u64)).unwrap_or(0)
    }

    /// Signs a payment for a wish; one in eight can be settled for only 45 seconds.
    fn sign(&self, number: u64, size: u64, rng: &mut Rng) -> Result<Signed> {
        let words = [rng.next_u64(), rng.next_u64(), number, rng.next_u64()];
        let nonce = B256::from(U256::from_limbs(words));
        let valid_s = if rng.once_in(8) { 45 } else { 900 };
        let header = self.scene.pay(&self.offer, usize::try_from(number)?, nonce, valid_s);
        let signed = Signed { nonce, size, header };
        self.books.sign(number, nonce);
        self.kept().insert(nonce, signed.clone());
        Ok(signed)
    }

    /// One request with a payment.
    async fn ask(&self, process: usize, size: u64, signed: &Signed) -> Heard {
        let url = url(&self.processes[process], &self.scene, size);
        let (name, value) = &signed.header;
        let Ok(answer) = self.http.get(url).header(*name, value).send().await else {
            return Heard::Open;
        };
        self.books.attempt();
        match answer.status().as_u16() {
            200 => match answer.bytes().await {
                Ok(body) => {
                    self.books.answer(signed.nonce, size, &body);
                    Heard::Answer
                }
                // The process ended while it answered: the client asks again.
                Err(_) => Heard::Open,
            },
            402 => Heard::Uncharged,
            409 => Heard::Used,
            _ => Heard::Open,
        }
    }

    /// Number of answered requests with a payment.
    pub fn attempts(&self) -> u64 {
        self.books.attempts.load(Ordering::Relaxed)
    }
}

fn http() -> Result<reqwest::Client> {
    Ok(reqwest::Client::builder().timeout(Duration::from_secs(20)).no_proxy().build()?)
}

fn url(process: &Process, scene: &Scene, size: u64) -> String {
    format!("http://{}{}", process.address, target(scene, size))
}

/// The requested address.
pub fn target(scene: &Scene, size: u64) -> String {
    format!("/v1/exit/{}?size_usd={size}", scene.pool)
}

/// Waits until a process answers that payment is required.
pub async fn until_up(process: &Process, scene: &Scene) -> Result<reqwest::Response> {
    until_it_answers(process, scene, 402).await
}

/// Waits until a free process answers.
pub async fn until_up_free(process: &Process, scene: &Scene) -> Result<()> {
    until_it_answers(process, scene, 200).await.map(drop)
}

async fn until_it_answers(
    process: &Process,
    scene: &Scene,
    status: u16,
) -> Result<reqwest::Response> {
    let http = http()?;
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let asked = http.get(url(process, scene, SIZE)).send().await;
        match asked {
            Ok(answer) if answer.status() == status => return Ok(answer),
            _ if Instant::now() > until => return Err("a service does not come up".into()),
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// A service's offer, once it is up.
pub async fn offer(process: &Process, scene: &Scene) -> Result<Offer> {
    let answer = until_up(process, scene).await?;
    let header = answer.headers().get(PAYMENT_REQUIRED);
    let text = header.and_then(|header| header.to_str().ok());
    let offers = Offers::from_response(|name| text.filter(|_| name == PAYMENT_REQUIRED), b"")?;
    Ok(offers.v2.into_iter().next().ok_or("no offer of version 2")??)
}
