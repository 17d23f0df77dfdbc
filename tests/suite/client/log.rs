//! The client's reaction to a log that forks, hides, forgets, or is damaged. Each test first shows that the attack
//! succeeds against a reader who knows less.

use std::cell::RefCell;
use std::time::Duration;

use exitgap_api::VerificationReport;
use exitgap_client::{
    BaseUrl, Client, Continuity, EvidenceOf, LogState, LogWatch, Memory, Native, Request, Response,
    Storage, Transport, TransportError, TrustBasis, Verification,
};
use exitgap_core::evidence::{Check, CheckName, Evidence, Outcome, Policy, Verdict, verify};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, Hash, LogProof, Origin, SignerKey, inclusion_proof, leaf_hash, root,
};
use exitgap_core::units::SizeUsd;
use serde_json::Value;

use crate::scenes::client::{Log, Meddling, Outcomes, SLOTS, base, scene};
use crate::scenes::service::Service;

/// Under which name a checkpoint is kept that a key signed.
fn name(key: &SignerKey) -> String {
    format!("exitgap checkpoint {}", key.verifier())
}

fn consistency(found: &VerificationReport) -> &Check {
    found.report.check(CheckName::Consistency).unwrap()
}

fn answer(body: impl Into<Vec<u8>>) -> Response {
    Response { status: 200, headers: Vec::new(), body: body.into() }
}

fn bytes(leaves: &[Hash]) -> Vec<u8> {
    leaves.iter().flat_map(|hash| hash.0).collect()
}

/// The evidence request for the leaf at `index`.
async fn question(service: &Service, log: &Log, index: u32) -> EvidenceOf {
    let pool = service.get("/v1/pools").json()["pools"][0]["pool"].as_str().unwrap().to_owned();
    let client = Client::new(Native::new().unwrap(), base(service));
    let size: SizeUsd = "1000".parse().unwrap();
    let published = client.exit(&pool.parse().unwrap(), size, None, None).await.unwrap();
    let of = EvidenceOf::from_url(&published.evidence_url.unwrap()).unwrap();
    EvidenceOf { slot: Slot::new((log.first + index).into()).unwrap(), ..of }
}

async fn check<T: Transport>(
    transport: T,
    service: &Service,
    memory: &Memory,
    of: &EvidenceOf,
) -> Verification {
    let client = Client::new(transport, base(service));
    LogWatch::new(&client, memory, Vec::new()).verify_remote(of, false).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_with_fewer_slots_than_were_seen_is_not_valid() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 1).await;
    let memory = Memory::default();
    let found = check(Native::new().unwrap(), &service, &memory, &of).await;
    assert_eq!(found.log.continuity, Continuity::FirstSeen);
    let kept = name(&log.key);
    assert_eq!(memory.get(&kept).as_ref(), Some(&log.note));

    // A log with one slot fewer than the client saw before, and a signed history whose last of these slots is
    // different.
    let fork = log.fork(SLOTS - 1);
    let note = log.sign(&fork);
    let mut file: Value = serde_json::from_slice(&found.bytes).unwrap();
    let hashes = inclusion_proof(&fork, 1).unwrap();
    let proof = LogProof { index: 1, hashes, checkpoint: note.clone() };
    file["log_proof"] = proof.to_text().into();
    let forged = file.to_string();
    let forking = Meddling::new(|request: &Request, outcome: Outcomes| {
        if request.url.ends_with("/log/checkpoint") {
            Ok(answer(note.as_str()))
        } else if request.url.contains("/log/tile/0/000.p/4") {
            Ok(answer(bytes(&fork)))
        } else if request.url.contains("/api/v1/exit/") {
            Ok(answer(forged.as_str()))
        } else {
            outcome
        }
    });
    let newcomer = check(&forking, &service, &Memory::default(), &of).await;
    assert_eq!(newcomer.report.report.verdict, Verdict::Valid, "{:?}", newcomer.report);
    let shown = check(&forking, &service, &memory, &of).await;
    assert_eq!(shown.log.continuity, Continuity::NotCompared);
    assert_eq!(shown.log.seen.as_ref(), Some(&log.note));
    assert_eq!(shown.report.report.verdict, Verdict::Incomplete, "{:?}", shown.report);
    let check_made = consistency(&shown.report);
    assert_eq!((check_made.outcome, check_made.code), (Outcome::NotChecked, "not_compared"));
    assert_eq!(check_made.expected, "a newest checkpoint of at least the 5 slots seen");
    assert_eq!(memory.get(&kept), Some(log.note), "what was seen is not forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_of_another_question_is_no_answer() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 2).await;
    let target = |of: &EvidenceOf| {
        let EvidenceOf { pool, base, slot, size, method_version } = of;
        let (base, slot) = (base.code(), slot.number());
        format!(
            "/api/v1/exit/{pool}?base={base}&slot={slot}&size_usd={size}&method_version={method_version}"
        )
    };
    let other = match of.base {
        exitgap_core::evidence::Base::Token0 => exitgap_core::evidence::Base::Token1,
        exitgap_core::evidence::Base::Token1 => exitgap_core::evidence::Base::Token0,
    };
    let keys = vec![log.key.verifier()];
    let swapped = [
        EvidenceOf { pool: recorded.pool(1).parse().unwrap(), ..of.clone() },
        EvidenceOf { slot: Slot::new((log.first + 1).into()).unwrap(), ..of.clone() },
        EvidenceOf { base: other, ..of.clone() },
        EvidenceOf { size: "1001".parse().unwrap(), ..of.clone() },
    ];
    for asked in [&of, &EvidenceOf { method_version: "1.0.1".to_owned(), ..of.clone() }] {
        for sent in swapped.iter().chain((asked != &of).then_some(&of)) {
            assert_ne!(asked, sent, "the question is another one");
            let genuine = service.get(&target(sent)).body;
            let verdict = verify(&genuine, &Policy::with_keys(keys.clone())).verdict;
            assert_eq!(verdict, Verdict::Valid, "what is sent is genuine");
            let swapping = Meddling::new(|request: &Request, outcome: Outcomes| {
                let evidence = request.url.contains("/api/v1/exit/");
                if evidence { Ok(answer(genuine.clone())) } else { outcome }
            });
            let client = Client::new(&swapping, base(&service));
            let watch = LogWatch::new(&client, Memory::default(), Vec::new());
            let error = watch.verify_remote(asked, false).await.unwrap_err();
            assert_eq!(error.code(), "not_as_specified", "{error}");
            assert!(error.to_string().contains("requested evidence of 1000 USD"), "{error}");
            assert!(swapping.asked.borrow().iter().any(|url| url.ends_with(&target(asked))));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_goes_on_does_not_bear_out_the_files_own_figures() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 2).await;
    let longer = Meddling::new(|request: &Request, outcome: Outcomes| {
        if !request.url.contains("/api/v1/window/") {
            return outcome;
        }
        // An additional head that is not in the log follows the file's head.
        let mut window: Value = serde_json::from_slice(&outcome.unwrap().body).unwrap();
        assert_eq!((&window["heads"], &window["missing"]), (&3.into(), &Value::Array(Vec::new())));
        window["heads"] = 4.into();
        window["missing"] = serde_json::json!([[3, 1, "chain_lagging"]]);
        Ok(answer(window.to_string()))
    });
    let client = Client::new(&longer, base(&service));
    let watch = LogWatch::new(&client, Memory::default(), Vec::new());
    let found = watch.verify_remote(&of, true).await.unwrap();
    let check = found.report.report.check(CheckName::Window).unwrap();
    assert_eq!((check.outcome, check.code), (Outcome::Fail, "window_invalid"));
    assert!(check.found.contains("the last head is not in the log"), "{}", check.found);
    assert_eq!(found.report.report.verdict, Verdict::Invalid);

    // A genuine window that ends later than requested.
    let of = question(&service, &log, 1).await;
    let later = Meddling::new(|request: &Request, outcome: Outcomes| {
        if !request.url.contains("/api/v1/window/") {
            return outcome;
        }
        let target = format!("/api/v1/window/{}?slot={}", of.pool, recorded.last.number());
        Ok(answer(String::from_utf8(service.get(&target).body).unwrap()))
    });
    let client = Client::new(&later, base(&service));
    let watch = LogWatch::new(&client, Memory::default(), Vec::new());
    let found = watch.verify_remote(&of, true).await.unwrap();
    let check = found.report.report.check(CheckName::Window).unwrap();
    assert_eq!((check.outcome, check.code), (Outcome::Fail, "window_ends_elsewhere"));
    let further = recorded.last.number() - of.slot.number();
    assert_eq!(check.found, format!("{further} further heads"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_proved_nothing_leaves_no_key_behind() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 1).await;
    for part in ["/api/v1/exit/", "/log/tile/"] {
        let memory = Memory::default();
        let failing =
            Meddling::new(
                |request: &Request, outcome: Outcomes| {
                    if request.url.contains(part) { Ok(answer("nothing")) } else { outcome }
                },
            );
        let client = Client::new(&failing, base(&service));
        let found = LogWatch::new(&client, &memory, Vec::new()).verify_remote(&of, false).await;
        assert!(found.is_err() || found.unwrap().report.report.verdict == Verdict::Invalid);
        assert!(failing.asked.borrow().iter().any(|url| url.contains(part)), "{part}");
        let keys = format!("exitgap keys {}", base(&service));
        assert_eq!(memory.get(&keys), None, "{part}");
        let good = check(Native::new().unwrap(), &service, &memory, &of).await;
        assert_eq!(good.log.basis, TrustBasis::FirstUse);
        assert!(memory.get(&keys).is_some());
    }
}

/// A service with the same log name that signs with its own key.
fn impostor(log: &Log) -> (SignerKey, String) {
    let key = SignerKey::from_seed(&log.newest.origin.to_string(), [42; 32]).unwrap();
    let state = Checkpoint { root: Hash([7; 32]), ..log.newest.clone() };
    let note = key.sign(&state.to_text()).unwrap();
    (key, note)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_is_neither_forgotten_nor_replaced() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let (other, forged) = impostor(&log);
    let verifier = other.verifier().to_string();
    let impostor = Meddling::new(|request: &Request, outcome: Outcomes| match &request.url {
        url if url.ends_with("/log/checkpoint") => Ok(answer(forged.as_str())),
        url if url.ends_with("/log/verifier-key") => Ok(answer(verifier.as_str())),
        _ => outcome,
    });
    let (honest, hostile) = (
        Client::new(Native::new().unwrap(), base(&service)),
        Client::new(&impostor, base(&service)),
    );
    // A client without earlier knowledge accepts it.
    let newcomer = LogWatch::new(&hostile, Memory::default(), Vec::new()).log().await.unwrap();
    assert_eq!((newcomer.basis, &newcomer.newest), (TrustBasis::FirstUse, &forged));

    // The client keeps a named key with the checkpoint, so another key is not a first use.
    let memory = Memory::default();
    let named = vec![log.key.verifier()];
    LogWatch::new(&honest, &memory, named.clone()).log().await.unwrap();
    let error = LogWatch::new(&hostile, &memory, Vec::new()).log().await.unwrap_err();
    assert!(error.to_string().contains("is not signed by a trusted key"), "{error}");
    let again = LogWatch::new(&honest, &memory, Vec::new()).log().await.unwrap();
    assert_eq!((again.basis, again.continuity), (TrustBasis::Kept, Continuity::Continues));

    // A log is known by its name and its key: that of another key does not replace it.
    let kept = name(&log.key);
    let stranger = LogWatch::new(&hostile, &memory, vec![other.verifier()]).log().await.unwrap();
    assert_eq!(stranger.continuity, Continuity::FirstSeen);
    assert_eq!(memory.get(&kept).as_ref(), Some(&log.note));
    // A checkpoint whose key is not known any more, kept by the service's address as earlier versions did.
    let former = format!("exitgap checkpoint {} {}", base(&service), log.newest.origin);
    let keyless = Memory::default();
    keyless.put(&former, &log.note);
    let error = LogWatch::new(&hostile, &keyless, Vec::new()).log().await.unwrap_err();
    assert_eq!(error.code(), "kept_unusable", "{error}");
    assert_eq!(keyless.get(&former).as_ref(), Some(&log.note));
    keyless.put(&format!("exitgap keys {}", base(&service)), "no key");
    let error = LogWatch::new(&honest, &keyless, Vec::new()).log().await.unwrap_err();
    assert_eq!(error.code(), "kept_unusable", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_was_kept_is_found_whatever_the_address() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let fork = log.sign(&log.fork(SLOTS));
    let forked = Meddling::new(|request: &Request, outcome: Outcomes| {
        if request.url.ends_with("/log/checkpoint") { Ok(answer(fork.as_str())) } else { outcome }
    });
    // The same service under another name.
    let elsewhere: BaseUrl =
        base(&service).to_string().replace("127.0.0.1", "localhost").parse().unwrap();
    assert_ne!(elsewhere, base(&service));
    let former = format!("exitgap checkpoint {} {}", base(&service), log.newest.origin);
    for kept in [name(&log.key), former] {
        let memory = Memory::default();
        let is_former = kept != name(&log.key);
        memory.put(&kept, &log.note);
        memory.put(&format!("exitgap keys {}", base(&service)), &log.key.verifier().to_string());
        let at = if is_former { base(&service) } else { elsewhere.clone() };
        let client = Client::new(&forked, at);
        let found = LogWatch::new(&client, &memory, vec![log.key.verifier()]).log().await.unwrap();
        assert_eq!(found.continuity, Continuity::Contradicts, "{kept}");
        assert!(found.contradiction.is_some());
        // A control: who has kept nothing sees nothing of it.
        let newcomer = LogWatch::new(&client, Memory::default(), Vec::new()).log().await.unwrap();
        assert_eq!(newcomer.continuity, Continuity::FirstSeen);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_of_two_names_do_not_make_each_other_forgotten() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let origin = Origin::new("example.org/successor", Slot::FIRST).unwrap();
    let successor = SignerKey::from_seed(&origin.to_string(), [5; 32]).unwrap();
    let state = Checkpoint { origin, size: 2, root: Hash([3; 32]), extensions: Vec::new() };
    let fork = log.sign(&log.fork(SLOTS));
    let notes = [log.note.clone(), successor.sign(&state.to_text()).unwrap(), fork];
    let turn = RefCell::new(0);
    let alternating = Meddling::new(|request: &Request, outcome: Outcomes| {
        if !request.url.ends_with("/log/checkpoint") {
            return outcome;
        }
        *turn.borrow_mut() += 1;
        Ok(answer(notes[*turn.borrow() - 1].as_str()))
    });
    let client = Client::new(&alternating, base(&service));
    let keys = vec![log.key.verifier(), successor.verifier()];
    let memory = Memory::default();
    let mut found = Vec::new();
    for _ in &notes {
        let LogState { continuity, .. } =
            LogWatch::new(&client, &memory, keys.clone()).log().await.unwrap();
        found.push(continuity);
    }
    assert_eq!(found, [Continuity::FirstSeen, Continuity::FirstSeen, Continuity::Contradicts]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_kept_meanwhile_is_not_put_back() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let kept = name(&log.key);
    let memory = Memory::default();
    let (three, four) = (log.sign(&log.leaves[..3]), log.sign(&log.leaves[..4]));
    memory.put(&kept, &three);
    let racing = Meddling::new(|request: &Request, outcome: Outcomes| match &request.url {
        url if url.ends_with("/log/checkpoint") => Ok(answer(four.as_str())),
        url if url.contains("/log/tile/") => {
            // Another tab stored a newer checkpoint first.
            memory.put(&kept, &log.note);
            Ok(answer(bytes(&log.leaves[..4])))
        }
        _ => outcome,
    });
    let client = Client::new(&racing, base(&service));
    let shown = LogWatch::new(&client, &memory, vec![log.key.verifier()]).log().await.unwrap();
    assert_eq!((shown.continuity, shown.seen), (Continuity::Continues, Some(three)));
    assert_eq!(memory.get(&kept), Some(log.note));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_smaller_checkpoint_kept_meanwhile_stays_until_it_was_compared() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let kept = name(&log.key);
    let memory = Memory::default();
    memory.put(&kept, &log.sign(&log.leaves[..2]));
    // Another tab saw another log and stored its checkpoint.
    let (four, fork) = (log.sign(&log.leaves[..4]), log.sign(&log.fork(3)));
    let racing = Meddling::new(|request: &Request, outcome: Outcomes| match &request.url {
        url if url.ends_with("/log/checkpoint") => Ok(answer(four.as_str())),
        url if url.contains("/log/tile/") => {
            memory.put(&kept, &fork);
            Ok(answer(bytes(&log.leaves[..4])))
        }
        _ => outcome,
    });
    let client = Client::new(&racing, base(&service));
    let watch = LogWatch::new(&client, &memory, vec![log.key.verifier()]);
    assert_eq!(watch.log().await.unwrap().continuity, Continuity::Continues);
    assert_eq!(memory.get(&kept).as_ref(), Some(&fork));
    assert_eq!(watch.log().await.unwrap().continuity, Continuity::Contradicts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_behind_the_file_accuses_nobody() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 4).await;
    let stale = log.sign(&log.leaves[..3]);
    let fresh = RefCell::new(Vec::new());
    let lagging = Meddling::new(|request: &Request, outcome: Outcomes| {
        fresh.borrow_mut().push((request.url.contains("/log/checkpoint"), request.fresh));
        if request.url.ends_with("/log/checkpoint") { Ok(answer(stale.as_str())) } else { outcome }
    });
    let found = check(&lagging, &service, &Memory::default(), &of).await;
    assert_eq!(found.report.report.verdict, Verdict::Incomplete, "{:?}", found.report);
    let made = consistency(&found.report);
    assert_eq!((made.outcome, made.found.as_str()), (Outcome::NotChecked, "one of 3 slots"));
    assert_eq!(found.log.contradiction, None);
    // The client requests the checkpoint after the file and bypasses caches.
    let fresh = fresh.borrow();
    assert!(fresh.iter().all(|(checkpoint, fresh)| checkpoint == fresh), "{fresh:?}");
    let asked = lagging.asked.borrow();
    let place = |part: &str| asked.iter().position(|url| url.contains(part)).unwrap();
    assert!(place("/api/v1/exit/") < place("/log/checkpoint"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_very_state_that_was_seen_or_of_another_log_is_told_apart() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 4).await;
    let memory = Memory::default();
    check(Native::new().unwrap(), &service, &memory, &of).await;

    // The service returns an old checkpoint, but the file contains the checkpoint that the client saw before.
    let stale = log.sign(&log.leaves[..3]);
    let lagging = Meddling::new(|request: &Request, outcome: Outcomes| {
        if request.url.ends_with("/log/checkpoint") { Ok(answer(stale.as_str())) } else { outcome }
    });
    let found = check(&lagging, &service, &memory, &of).await;
    assert_eq!(found.log.continuity, Continuity::NotCompared);
    assert_eq!(consistency(&found.report).outcome, Outcome::Pass);
    assert_eq!(found.report.report.verdict, Verdict::Valid, "{:?}", found.report);

    // The service now has a successor log, which proves nothing about a file of the old log.
    let origin = Origin::new("example.org/successor", Slot::FIRST).unwrap();
    let key = SignerKey::from_seed(&origin.to_string(), [5; 32]).unwrap();
    let state = Checkpoint { origin, size: 9, root: Hash([3; 32]), extensions: Vec::new() };
    let successor = key.sign(&state.to_text()).unwrap();
    let moved = Meddling::new(|request: &Request, outcome: Outcomes| {
        let checkpoint = request.url.ends_with("/log/checkpoint");
        if checkpoint { Ok(answer(successor.as_str())) } else { outcome }
    });
    let client = Client::new(&moved, base(&service));
    let keys = vec![log.key.verifier(), key.verifier()];
    let found = LogWatch::new(&client, &memory, keys).verify_remote(&of, false).await.unwrap();
    let made = consistency(&found.report);
    assert_eq!((made.outcome, made.code), (Outcome::NotChecked, "not_compared"));
    assert_eq!(made.found, log.newest.origin.to_string());
    assert_eq!(found.report.report.verdict, Verdict::Incomplete, "{:?}", found.report);
}

/// A log without a service: a checkpoint, and tiles of invented leaves.
struct Tiled {
    checkpoint: String,
    leaves: Vec<Hash>,
    /// Damages the first hash of this level 0 tile.
    spoilt: Option<usize>,
}

impl Transport for &Tiled {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        if request.url.ends_with("/log/checkpoint") {
            return Ok(answer(self.checkpoint.as_str()));
        }
        let (_, path) = request.url.split_once("/log/tile/").unwrap();
        let (level, tile) = path.split_once('/').unwrap();
        let index: usize = tile[..3].parse().unwrap();
        let mut hashes: Vec<Hash> = match level {
            "0" => self.leaves.clone(),
            _ => self.leaves.as_chunks::<256>().0.iter().map(|full| root(full)).collect(),
        };
        hashes = hashes.chunks(256).nth(index).unwrap().to_vec();
        if level == "0" && self.spoilt == Some(index) {
            hashes[0] = Hash([1; 32]);
        }
        Ok(answer(bytes(&hashes)))
    }

    async fn pause(&self, _: Duration) {}

    fn random(&self) -> u32 {
        0
    }
}

#[tokio::test]
async fn a_damaged_tile_accuses_nobody_and_a_rewritten_history_is_noticed() {
    let leaves: Vec<Hash> = (0_u32..600).map(|n| leaf_hash(&n.to_be_bytes())).collect();
    let origin = Origin::new("example.org/exits", Slot::FIRST).unwrap();
    let key = SignerKey::from_seed(&origin.to_string(), [3; 32]).unwrap();
    let sign = |leaves: &[Hash]| {
        let (size, root) = (leaves.len() as u64, root(leaves));
        let state = Checkpoint { origin: origin.clone(), size, root, extensions: Vec::new() };
        key.sign(&state.to_text()).unwrap()
    };
    let service: BaseUrl = "http://log.example".parse().unwrap();
    let watched = async |seen: &[Hash], spoilt: Option<usize>| {
        let memory = Memory::default();
        memory.put(&name(&key), &sign(seen));
        let tiled = Tiled { checkpoint: sign(&leaves), leaves: leaves.clone(), spoilt };
        let client = Client::new(&tiled, service.clone()).with_web(service.clone());
        LogWatch::new(&client, &memory, vec![key.verifier()]).log().await
    };
    let honest = watched(&leaves[..300], None).await.unwrap();
    assert_eq!(honest.continuity, Continuity::Continues);
    // The newest root is computed from level 1, the proof from level 0.
    let error = watched(&leaves[..300], Some(1)).await.unwrap_err();
    assert!(error.to_string().contains("its tiles contradict each other"), "{error}");
    let error = watched(&leaves[..300], Some(2)).await.unwrap_err();
    assert!(error.to_string().contains("do not give the root of its 600 slots"), "{error}");
    let mut rewritten = leaves[..300].to_vec();
    rewritten[299] = Hash([9; 32]);
    let forked = watched(&rewritten, None).await.unwrap();
    assert_eq!(forked.continuity, Continuity::Contradicts);
    assert_eq!(forked.contradiction.unwrap().checkpoints, [sign(&rewritten), sign(&leaves)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_from_anywhere_is_held_against_what_was_kept() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let of = question(&service, &log, 1).await;
    let memory = Memory::default();
    let evidence = check(Native::new().unwrap(), &service, &memory, &of).await.evidence;
    let client = Client::new(Native::new().unwrap(), base(&service));
    let keys = vec![log.key.verifier()];
    let stranger = LogWatch::new(&client, Memory::default(), keys.clone());
    assert_eq!(stranger.verify_file(&evidence).await.unwrap(), None, "nothing was kept");
    let watch = LogWatch::new(&client, &memory, keys);
    let none = Evidence::from_bytes(b"no evidence");
    assert_eq!(watch.verify_file(&none).await.unwrap(), None);
    let (report, found) = watch.verify_file(&evidence).await.unwrap().unwrap();
    assert_eq!(found.continuity, Continuity::Continues);
    assert_eq!(report.report.verdict, Verdict::Valid, "{report:?}");
    assert_eq!(consistency(&report).outcome, Outcome::Pass);
    // The file is genuine, but it belongs to another log than the one of the previous visit.
    let kept = name(&log.key);
    memory.put(&kept, &log.sign(&log.fork(SLOTS)));
    let (report, found) = watch.verify_file(&evidence).await.unwrap().unwrap();
    assert_eq!(found.continuity, Continuity::Contradicts);
    assert_eq!(report.report.verdict, Verdict::Invalid, "{report:?}");
    assert!(report.contradiction.is_some());
}
