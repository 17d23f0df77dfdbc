//! Recorders that follow peers: they cosign a peer that agrees, prove a lying peer wrong with the chain's own state,
//! and are never delayed by a peer that is silent, oversized or broken.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use exitgap_core::log_folder::LogFile;
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{CosignatureStatus, Cosigner, Note, SignerKey};
use exitgap_server::challenges::Challenges;
use exitgap_server::peers::{FollowContext, Followers, Peer, PeerConfig, PeerTold, peers_of};
use exitgap_store::LogFolder;
use exitgap_tests::devchain::{FIRST_SLOT, Market, World};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::scenes::between::between;
use crate::scenes::chain::{pass_slot, scene};
use crate::scenes::operator_at_work::AtWork;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::Service;

/// The results for a peer's slots.
struct Told(mpsc::UnboundedReceiver<PeerTold>);

impl Told {
    /// Waits for the result for a slot.
    async fn of(&mut self, slot: u64) -> PeerTold {
        loop {
            let told = tokio::time::timeout(Duration::from_mins(1), self.0.recv()).await;
            let told = told.expect("the peer is followed").expect("and goes on to be");
            if u64::from(told.slot.number()) == slot && told.outcome != "not_yet" {
                return told;
            }
        }
    }
}

fn observer() -> Cosigner {
    Cosigner::new(SignerKey::from_seed("here.example/observer", [8; 32]).unwrap())
}

/// Makes an operator follow the log at an address, signed by `key`.
fn follow(operator: &AtWork, at: SocketAddr, key: &str) -> Told {
    let peer = PeerConfig { log: format!("http://{at}/log"), key: key.to_owned() };
    let peers: Vec<Peer> = peers_of(&[peer]).unwrap();
    let challenges = operator
        .proofs
        .clone()
        .map(|kept| Arc::new(Challenges::new(kept, &operator.checked.plan).unwrap()));
    let followed = FollowContext {
        store: operator.checked.config.store.path.clone(),
        folder: LogFolder::new(operator.log()),
        challenges,
        observer: Some(observer()),
        now_s: Arc::new(|| 1_800_000_000),
    };
    let (tell, told) = mpsc::unbounded_channel();
    let followers =
        Followers::new(followed, peers, Arc::new(move |one| drop(tell.send(one.clone()))));
    followers.unwrap().start(&operator.recorder.watch_sealed());
    Told(told)
}

/// The files that an operator published about its only peer: the checkpoint, and those of slots.
fn published(operator: &AtWork) -> (Option<String>, Vec<(u32, Value)>) {
    let (mut checkpoint, mut slots) = (None, Vec::new());
    for file in operator.published("peers") {
        let text = fs::read_to_string(operator.log().join(file.to_string())).unwrap();
        match file {
            LogFile::PeerCheckpoint(_) => checkpoint = Some(text),
            LogFile::PeerSlot(_, slot) => {
                slots.push((slot.number(), serde_json::from_str(&text).unwrap()));
            }
            other => panic!("{other}"),
        }
    }
    (checkpoint, slots)
}

fn key_of(operator: &AtWork) -> String {
    fs::read_to_string(operator.log().join("verifier-key")).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_agrees_is_cosigned_and_one_whose_node_lied_is_shown_to_have() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 31).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut ours = AtWork::new(&chain, &world, &chain.url(), "anvil", true);
    let mut theirs = AtWork::new(&chain, &world, &proxy.url(), "devnet", false);
    market.play_slot(FIRST_SLOT).await.unwrap();
    theirs.record(FIRST_SLOT).await;
    let service = Service::start(theirs.folder.path(), &["--no-record"], &[]);
    let mut told = follow(&ours, service.address, &key_of(&theirs));
    ours.record(FIRST_SLOT).await;
    let pools = world.pools.len() as u64;
    for slot in [FIRST_SLOT, FIRST_SLOT + 1] {
        if slot > FIRST_SLOT {
            market.play_slot(slot).await.unwrap();
            // The first recorder does not wait for its peer.
            ours.record(slot).await;
            theirs.record(slot).await;
        }
        let one = told.of(slot).await;
        assert_eq!(
            (one.outcome, one.compared, one.differing, one.observed),
            ("agreed", pools, 0, true)
        );
        let (checkpoint, slots) = published(&ours);
        let checkpoint = checkpoint.unwrap();
        let note = Note::parse(&checkpoint).unwrap();
        assert!(
            slots.is_empty() && note.text.contains(&format!("\n{}\n", slot - FIRST_SLOT + 1)),
            "{checkpoint}"
        );
        let line = observer().verifier().judge(&note);
        assert!(matches!(line, CosignatureStatus::At(1_800_000_000)), "{line:?}");
    }
    // The peer's node reports a wrong reserve. Our node is asked, and the peer's snapshot contradicts the chain.
    let at = FIRST_SLOT + 2;
    pass_slot(&chain, at).await;
    ours.record(at).await;
    let pair = format!("anvil:{:#x}", world.pools[World::FIRST_V2].pool.address);
    lie_about_a_reserve(&proxy, &ours, &pair, at);
    theirs.record(at).await;
    assert!(proxy.fired() > 0);
    proxy.be_honest();
    let one = told.of(at).await;
    assert_eq!((one.outcome, one.differing, one.refuted, one.observed), ("differing", 1, 1, false));
    let (checkpoint, slots) = published(&ours);
    assert_eq!(checkpoint.unwrap().matches("\u{2014} ").count(), 1, "nobody cosigns that");
    let (slot, document) = &slots[0];
    assert_eq!((slots.len(), u64::from(*slot)), (1, at));
    let found = &document["differences"][0];
    assert_eq!(
        (&found["code"], &found["refutes"]),
        (&json!("state_differs"), &json!(["theirs"])),
        "{document}"
    );
    assert_eq!(found["pools"], json!([pair, pair.replace("anvil", "devnet")]));
    assert_eq!((&document["compared"], &document["differing"]), (&json!(pools), &json!(1)));
    // The proof is published with the next slot and can be passed on: it refutes the peer's snapshot and none of ours.
    pass_slot(&chain, at + 1).await;
    ours.record(at + 1).await;
    theirs.record(at + 1).await;
    let one = told.of(at + 1).await;
    assert_eq!((one.outcome, one.observed), ("agreed", false), "who lied once is cosigned no more");
    let proof = ours.log().join(found["proof"].as_str().unwrap());
    for (operator, slug, code) in [(&ours, "anvil", 0), (&theirs, "devnet", 6)] {
        let slot = Slot::new(at).unwrap().to_string();
        let pool = pair.replace("anvil", slug);
        let made = ["evidence", &pool, "--size-usd", "1000", "--at", &slot, "--out", "e.json"];
        assert!(operator.program("exitgap-server", &made).status.success());
        let key = "exitgap-log/verifier-key";
        let verify = ["verify", "e.json", "--trust", key, "--state-proof", proof.to_str().unwrap()];
        let (found, report) = operator.exitgap(&verify);
        assert_eq!(found, Some(code), "{slug}: {report}");
    }
    gone(&mut ours, &mut told, service, &chain, at + 2).await;
}

/// Makes a node report another reserve of a pair than the one an operator recorded at a slot.
fn lie_about_a_reserve(proxy: &Proxy, recorded: &AtWork, pair: &str, slot: u64) {
    let snapshot = recorded.snapshot(&pair.parse().unwrap(), slot);
    let PoolState::ConstantProduct(held) = snapshot.observation().state() else { panic!("a pair") };
    let reserve = held.reserves()[0];
    let (of, other) = (format!("{reserve:064x}"), format!("{:064x}", reserve + 1));
    proxy.lie(move |request, told| {
        let answer = told["result"].as_str().filter(|_| request["method"] == "eth_call")?;
        answer.contains(&of).then(|| Lie::Result(answer.replace(&of, &other).into()))
    });
}

/// An unreachable peer delays no slot and is reported once.
async fn gone(
    ours: &mut AtWork,
    told: &mut Told,
    service: Service,
    chain: &exitgap_tests::devchain::DevChain,
    slot: u64,
) {
    service.end();
    pass_slot(chain, slot).await;
    let begun = Instant::now();
    let report = ours.record(slot).await;
    assert!(begun.elapsed() < Duration::from_secs(20) && report.unpublished.is_none());
    let one = told.of(slot).await;
    assert_eq!((one.outcome, one.compared), ("silent", 0));
}

/// The path prefix, a change to the peer's answers, and the expected result.
type Change = (&'static str, fn(Vec<u8>) -> Vec<u8>, &'static str);

fn replaced(of: &str, by: &str, answer: Vec<u8>) -> Vec<u8> {
    String::from_utf8(answer).unwrap().replace(of, by).into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_the_peers_own_is_told_by_name_and_nothing_of_it_is_published() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 32).await.unwrap();
    let mut ours = AtWork::new(&chain, &world, &chain.url(), "anvil", false);
    let mut theirs = AtWork::new(&chain, &world, &chain.url(), "devnet", false);
    let changes: [Change; 5] = [
        (
            "/log/slots/",
            |answer| replaced("devnet.example/exits", "devnet.example/other", answer),
            "wrong",
        ),
        (
            "/log/slots/",
            |_| [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 8 << 20]].concat(),
            "too_large",
        ),
        (
            "/log/parts/",
            |mut answer| {
                *answer.last_mut().unwrap() ^= 1;
                answer
            },
            "wrong",
        ),
        (
            "/log/tile/0",
            |mut answer| {
                *answer.last_mut().unwrap() ^= 1;
                answer
            },
            "wrong",
        ),
        ("/nothing", |answer| answer, "agreed"),
    ];
    let now: Arc<Mutex<Change>> = Arc::new(Mutex::new(changes[4]));
    let fired = Arc::new(Mutex::new(0));
    market.play_slot(FIRST_SLOT).await.unwrap();
    theirs.record(FIRST_SLOT).await;
    let service = Service::start(theirs.folder.path(), &["--no-record"], &[]);
    let (shared, count) = (now.clone(), fired.clone());
    let address = between(service.address, move |head, answer| {
        let (path, change, _) = *shared.lock().unwrap();
        if !head.starts_with(&format!("GET {path}")) {
            return answer;
        }
        *count.lock().unwrap() += 1;
        change(answer)
    });
    let mut told = follow(&ours, address, &key_of(&theirs));
    ours.record(FIRST_SLOT).await;
    assert_eq!(told.of(FIRST_SLOT).await.outcome, "agreed", "the control");
    for (at, change) in (FIRST_SLOT + 1..).zip(changes) {
        *now.lock().unwrap() = change;
        *fired.lock().unwrap() = 0;
        market.play_slot(at).await.unwrap();
        theirs.record(at).await;
        ours.record(at).await;
        let one = told.of(at).await;
        assert_eq!(one.outcome, change.2, "{}: {one:?}", change.0);
        assert!(change.2 == "agreed" || *fired.lock().unwrap() > 0, "{}", change.0);
    }
    assert!(published(&ours).1.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_with_two_pasts_is_published_with_both_checkpoints() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 33).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut ours = AtWork::new(&chain, &world, &chain.url(), "anvil", false);
    let mut theirs = AtWork::new(&chain, &world, &chain.url(), "devnet", false);
    // The same operator with the same key, but another history.
    let again = AtWork::new(&chain, &world, &proxy.url(), "devnet", false);
    let AtWork { folder, recorder, .. } = again;
    recorder.close().unwrap();
    fs::remove_file(folder.path().join("exitgap.db")).unwrap();
    fs::copy(theirs.path("exitgap.key"), folder.path().join("exitgap.key")).unwrap();
    let mut again = AtWork::in_folder(folder, "exitgap.toml");
    market.play_slot(FIRST_SLOT).await.unwrap();
    theirs.record(FIRST_SLOT).await;
    let pair = format!("devnet:{:#x}", world.pools[World::FIRST_V2].pool.address);
    lie_about_a_reserve(&proxy, &theirs, &pair, FIRST_SLOT);
    again.record(FIRST_SLOT).await;
    assert!(proxy.fired() > 0);
    proxy.be_honest();
    let services =
        [&theirs, &again].map(|one| Service::start(one.folder.path(), &["--no-record"], &[]));
    let to = Arc::new(Mutex::new(services[0].address));
    // Readers get one history first, then the other.
    let behind = to.clone();
    let address = between(services[0].address, move |head, answer| {
        let to = *behind.lock().unwrap();
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        if answer.is_empty() { answer } else { whole(to, &target) }
    });
    let mut told = follow(&ours, address, &key_of(&theirs));
    ours.record(FIRST_SLOT).await;
    assert_eq!(told.of(FIRST_SLOT).await.outcome, "agreed");
    market.play_slot(FIRST_SLOT + 1).await.unwrap();
    theirs.record(FIRST_SLOT + 1).await;
    again.record(FIRST_SLOT + 1).await;
    *to.lock().unwrap() = services[1].address;
    ours.record(FIRST_SLOT + 1).await;
    assert_eq!(told.of(FIRST_SLOT + 1).await.outcome, "wrong");
    let (_, slots) = published(&ours);
    let (slot, document) = &slots[0];
    assert_eq!(u64::from(*slot), FIRST_SLOT + 1);
    let size = |field: &str| document[field].as_str().unwrap().lines().nth(1).unwrap().to_owned();
    assert_eq!(
        (size("contradicts"), size("checkpoint")),
        ("1".to_owned(), "2".to_owned()),
        "{document}"
    );
}

/// Returns the body of a successful answer.
fn whole(service: SocketAddr, target: &str) -> Vec<u8> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(service).unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}
