//! Tests the client with a service that consists of a few texts.

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use exitgap_api::VerificationReport;
use exitgap_core::evidence::{Evidence, HeadWindow, Outcome, Policy};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, SnapshotDocuments, SnapshotFile};
use exitgap_core::tlog::VerifierKey;
use serde_json::Value;

use crate::{
    Client, ClientError, Continuity, EvidenceOf, LogState, Request, Response, Since, Transport,
    TransportError, TrustBasis, Verification,
};

/// Answers with the text for an address, and records the size limit of each request.
#[derive(Default)]
struct Texts {
    texts: Vec<(&'static str, Vec<u8>)>,
    asked: RefCell<Vec<(String, usize)>>,
}

impl Transport for &Texts {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        self.asked.borrow_mut().push((request.url.clone(), request.max_bytes));
        let found = self.texts.iter().find(|(part, _)| request.url.contains(part));
        let (_, body) = found.unwrap_or_else(|| panic!("{} was asked for", request.url));
        Ok(Response { status: 200, headers: Vec::new(), body: body.clone() })
    }

    async fn pause(&self, _: Duration) {}

    fn random(&self) -> u32 {
        0
    }
}

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => panic!("it waits"),
    }
}

fn client(texts: &Texts) -> Client<&Texts> {
    let base: crate::BaseUrl = "http://here.example".parse().unwrap();
    Client::new(texts, base.clone()).with_web(base)
}

fn vector(text: &str) -> (Vec<u8>, Value) {
    let vector: Value = serde_json::from_str(text).unwrap();
    (vector["evidence"].as_str().unwrap().into(), vector["policy"].clone())
}

/// The snapshot of a vector's evidence, served with the first occurrence of one text replaced by another.
fn serving(text: &str, from: &str, to: &str) -> (PoolId, SnapshotDocuments, Texts) {
    let SnapshotFile { pool, documents } = SnapshotFile::from_json(&vector(text).0).unwrap();
    let changed = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).unwrap().replacen(from, to, 1).into_bytes()
    };
    let texts = vec![
        ("/api/v1/snapshots/", changed(&documents.snapshot)),
        ("/api/v1/states/", changed(&documents.state)),
    ];
    (pool.unwrap(), documents, Texts { texts, ..Texts::default() })
}

const TRUE: &str = include_str!("../../../tests/vectors/evidence/true_concentrated_liquidity.json");

#[test]
fn a_snapshot_and_its_state_are_hashed_and_bounded() {
    let (pool, documents, texts) = serving(TRUE, "", "");
    let snapshot = now(client(&texts).snapshot(&pool, documents.hash())).unwrap();
    assert_eq!(snapshot.to_canonical().unwrap(), documents);
    let asked = texts.asked.borrow();
    let limits: Vec<usize> = asked.iter().map(|(_, most)| *most).collect();
    assert_eq!(limits, [MAX_SNAPSHOT_BYTES, MAX_STATE_BYTES]);
    assert!(asked[0].0.ends_with(&format!("/api/v1/snapshots/{}", documents.hash())));

    for (from, to, part) in
        [("\"number\":", "\"number\":1", "/snapshots/"), ("\"ticks\":", "\"ticks\": ", "/states/")]
    {
        let (pool, documents, texts) = serving(TRUE, from, to);
        let error = now(client(&texts).snapshot(&pool, documents.hash())).unwrap_err();
        assert_eq!(error.code(), "not_as_specified");
        assert!(error.to_string().contains("the hash of the served bytes is 0x"), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn what_a_newer_version_recorded_is_fetched_and_is_no_fault_of_the_service() {
    const FUTURE: &str = include_str!("../../../tests/vectors/evidence/future_protocol.json");
    let (pool, documents, texts) = serving(FUTURE, "", "");
    let client = client(&texts);
    assert_eq!(now(client.snapshot_documents(documents.hash())).as_ref(), Ok(&documents));
    let error = now(client.snapshot(&pool, documents.hash())).unwrap_err();
    assert!(matches!(error, ClientError::Newer { .. }), "{error:?}");
    assert_eq!(error.code(), "unsupported_protocol");
    assert!(error.to_string().ends_with("made by a newer version; update to check it"), "{error}");
    assert_eq!(error.into_problem().hint.as_deref(), Some("update exitgap"));
}

/// What followed the vector's slot, according to its window and these keys.
fn since(text: &str, keys: &[VerifierKey]) -> Since {
    let (evidence, policy) = vector(text);
    let window = policy["window"].as_str().unwrap().as_bytes().to_vec();
    let newest = HeadWindow::from_canonical(&window).unwrap().checkpoint().to_owned();
    let (bytes, evidence) = (evidence.clone(), Arc::new(Evidence::from_bytes(&evidence)));
    let request = evidence.statement().unwrap().request.clone();
    let slot = Slot::new(request.slot).unwrap();
    let of = EvidenceOf {
        pool: request.pool.clone(),
        base: request.base,
        slot,
        size: request.size().unwrap(),
        method_version: request.method_version,
    };
    let status = serde_json::json!({
        "pool": request.pool, "slot": request.slot, "slot_time": slot.to_string(), "state": "recorded",
    });
    let log = LogState {
        keys: keys.to_vec(),
        basis: TrustBasis::Named,
        newest,
        seen: None,
        continuity: Continuity::FirstSeen,
        contradiction: None,
    };
    let report = VerificationReport::from_evidence(&evidence, &Policy::with_keys(keys.to_vec()));
    let verified = Verification { bytes, evidence, report, log };
    let status = ("/api/v1/status/", status.to_string().into_bytes());
    let texts = Texts { texts: vec![status, ("/api/v1/window/", window)], ..Texts::default() };
    now(client(&texts).since(&of, &verified)).unwrap()
}

#[test]
fn later_heads_are_proven_by_a_key_and_claimed_without() {
    const LATER: &str = include_str!("../../../tests/vectors/evidence/window_that_ends_later.json");
    const MISREAD: &str = include_str!(
        "../../../tests/vectors/evidence/window_that_takes_the_slot_back_as_misread.json"
    );
    const STRANGE: &str =
        include_str!("../../../tests/vectors/evidence/window_signed_by_a_stranger.json");
    let keys: Vec<VerifierKey> =
        vec![vector(LATER).1["keys"][0].as_str().unwrap().parse().unwrap()];
    for (keys, proven) in [(&keys[..], true), (&[], false)] {
        let stands = since(LATER, keys);
        assert_eq!(stands.heads.as_ref().unwrap().outcome, Outcome::Pass, "{stands:?}");
        assert_eq!((stands.proven, stands.is_taken_back()), (proven, false));
        let taken = since(MISREAD, keys);
        assert_eq!((taken.proven, taken.is_taken_back()), (proven, true));
    }
    let strange = since(STRANGE, &keys);
    assert_eq!(strange.heads.as_ref().unwrap().code, "window_not_trusted");
    assert_eq!((strange.proven, strange.is_taken_back()), (false, false));
}
