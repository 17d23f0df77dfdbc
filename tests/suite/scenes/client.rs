//! A service with a client, a transport that changes answers, and the log that the service serves.

use std::cell::RefCell;
use std::fs;
use std::time::Duration;

use exitgap_client::{BaseUrl, Native, Request, Response, Transport, TransportError};
use exitgap_core::ids::PoolId;
use exitgap_core::tlog::{Checkpoint, Hash, SignerKey, leaf_hash, root};

use crate::scenes::service::{Recorded, Service, recorded};

/// Number of recorded slots.
pub const SLOTS: usize = 5;

/// A transport that changes the answers.
pub struct Meddling<F> {
    native: Native,
    meddle: F,
    pub asked: RefCell<Vec<String>>,
    pub paused: RefCell<Vec<Duration>>,
}

pub type Outcomes = Result<Response, TransportError>;

impl<F: Fn(&Request, Outcomes) -> Outcomes> Meddling<F> {
    pub fn new(meddle: F) -> Self {
        let (asked, paused) = (RefCell::default(), RefCell::default());
        Self { native: Native::new().unwrap(), meddle, asked, paused }
    }
}

impl<F: Fn(&Request, Outcomes) -> Outcomes> Transport for &Meddling<F> {
    async fn send(&self, request: &Request) -> Outcomes {
        self.asked.borrow_mut().push(request.url.clone());
        let outcome = self.native.send(request).await;
        (self.meddle)(request, outcome)
    }

    async fn pause(&self, time: Duration) {
        self.paused.borrow_mut().push(time);
    }

    fn random(&self) -> u32 {
        7
    }
}

pub fn base(service: &Service) -> BaseUrl {
    format!("http://{}/", service.address).parse().unwrap()
}

pub async fn scene() -> (Recorded, Service, PoolId) {
    let recorded = recorded(SLOTS as u64).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0).parse().unwrap();
    (recorded, service, pool)
}

/// A served log with the operator's key.
pub struct Log {
    pub key: SignerKey,
    pub newest: Checkpoint,
    pub note: String,
    pub leaves: Vec<Hash>,
    pub first: u32,
}

impl Log {
    pub fn of(recorded: &Recorded, service: &Service) -> Self {
        let note = String::from_utf8(service.get("/log/checkpoint").body).unwrap();
        let (newest, _) = Checkpoint::from_note(&note).unwrap();
        let tile = service.get(&format!("/log/tile/0/000.p/{SLOTS}")).body;
        let leaves = tile.as_chunks::<32>().0.iter().copied().map(Hash).collect();
        let key = fs::read_to_string(recorded.path("exitgap.key")).unwrap();
        let key: SignerKey = key.trim_end().parse().unwrap();
        let key = key.with_name(&newest.origin.to_string()).unwrap();
        Self { key, leaves, first: newest.origin.first_slot().number(), newest, note }
    }

    /// Signs a log of these leaves with the operator's key.
    pub fn sign(&self, leaves: &[Hash]) -> String {
        let size = leaves.len() as u64;
        let state = Checkpoint { size, root: root(leaves), ..self.newest.clone() };
        self.key.sign(&state.to_text()).unwrap()
    }

    /// The log's first leaves, with the last one replaced.
    pub fn fork(&self, size: usize) -> Vec<Hash> {
        let mut leaves = self.leaves[..size].to_vec();
        leaves[size - 1] = leaf_hash(b"what did not happen");
        leaves
    }
}
