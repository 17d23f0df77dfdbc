//! The wallet never pays twice for one answer: a sent payment is sent again, whatever the answer.

use std::fs;
use std::path::PathBuf;

use base64ct::Encoding;
use exitgap_core::ids::Word;

use super::*;

type Outcome = Result<Response, TransportError>;

fn lost() -> Outcome {
    Err(TransportError::Unreachable("connection reset".to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "a scene's answers are outcomes")]
fn pending(status: u16) -> Outcome {
    Ok(told(set(answer(status), "retry-after", Some("1")), false, "settlement_pending"))
}

/// An answer without a settlement.
#[expect(clippy::unnecessary_wraps, reason = "a scene's answers are outcomes")]
fn old() -> Outcome {
    Ok(answer(200))
}

#[expect(clippy::unnecessary_wraps, reason = "a scene's answers are outcomes")]
fn settled() -> Outcome {
    Ok(told(answer(200), true, ""))
}

impl Scene {
    fn before(paid: Vec<Outcome>) -> Self {
        Self::new(offer(&priced(10_000)), paid)
    }

    /// The service's answers to payments from now on.
    fn then(&self, paid: Outcome) {
        *self.shop.paid.borrow_mut() = vec![paid];
    }

    /// A call with a separate wallet, as in a later process.
    fn impatient(&self) -> Outcome {
        now(self.paying().with_max_wait(Duration::from_secs(3)).send(&request(URL)))
    }

    fn open_files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path().join("ledger.jsonl.open"));
        files.map_or_else(|_| Vec::new(), |files| files.map(|file| file.unwrap().path()).collect())
    }

    fn states(&self) -> Vec<State> {
        self.ledger().entries().unwrap().iter().map(|entry| entry.state).collect()
    }
}

#[test]
fn three_calls_sign_one_payment_whatever_was_answered() {
    let pay_again = || Ok(offer(&priced(10_000)));
    for (outcome, expected) in [
        (pending(402), Some("payment_refused")),
        (pay_again(), Some("payment_refused")),
        (pending(429), Some("payment_unknown")),
        (pending(500), Some("payment_unknown")),
        (pending(503), Some("payment_unknown")),
        (lost(), Some("payment_unknown")),
        (old(), None),
        (Ok(answer(409)), None),
    ] {
        let scene = Scene::before(vec![outcome.clone()]);
        let mut sent = 0;
        for _ in 0..3 {
            match (scene.impatient(), expected) {
                (Ok(_), None) => {}
                (error, Some(expected)) => {
                    let words = format!("{error:?}");
                    assert!(words.contains("and no other was signed"), "{words}");
                    assert!(words.contains("call again"), "{words}");
                    assert_eq!(code(error), expected, "{outcome:?}");
                }
                (other, None) => panic!("{other:?}"),
            }
            assert!(scene.sent().len() > sent, "the control: each call sends it");
            sent = scene.sent().len();
        }
        assert_eq!((scene.signed(), scene.spent()), (1, 10_000), "{outcome:?}");
        assert_eq!(scene.states(), [State::Sent]);
        // The same payment is then answered and settled; another request gets another payment.
        scene.then(settled());
        assert_eq!(scene.impatient().unwrap().status, 200);
        assert_eq!((scene.signed(), scene.states()), (1, vec![State::Settled]), "{outcome:?}");
        assert_eq!(scene.open_files(), Vec::<PathBuf>::new());
        scene.impatient().unwrap();
        assert_eq!((scene.signed(), scene.spent()), (2, 20_000), "{outcome:?}");
    }
}

#[test]
fn a_call_waits_for_a_settlement_that_takes_a_while() {
    let scene = Scene::before(vec![pending(402), pending(402), lost(), pending(500), settled()]);
    assert_eq!(scene.get().unwrap().status, 200);
    assert_eq!((scene.sent().len(), scene.signed(), scene.spent()), (5, 1, 10_000));
    let paid = scene.shop.asked.borrow().iter().filter(|asked| !asked.headers.is_empty()).count();
    let fresh = scene.shop.asked.borrow().iter().filter(|asked| asked.fresh).count();
    assert_eq!((paid, fresh), (5, 5), "no cache on the way answers a payment");
}

#[test]
fn a_payment_belongs_to_one_request() {
    let scene = Scene::before(vec![lost()]);
    let posted = |body: &str| Request {
        method: Method::Post,
        body: body.as_bytes().to_vec(),
        ..request(URL)
    };
    let other = request(&format!("{URL}&base=weth"));
    for (signed, asked) in [request(URL), other, posted("a"), posted("b")].iter().enumerate() {
        for _ in 0..2 {
            let wallet = scene.paying().with_max_wait(Duration::ZERO);
            assert_eq!(code(now(wallet.send(asked))), "payment_unknown");
            assert_eq!(scene.signed(), signed + 1);
        }
    }
    // A URL is the same with a fragment, and in the normal form of the WHATWG URL standard.
    let same = request("https://EXITGAP.example:443/v1/exit/ethereum:0x88e6?size_usd=250000#top");
    let wallet = scene.paying().with_max_wait(Duration::ZERO);
    assert_eq!(code(now(wallet.send(&same))), "payment_unknown");
    assert_eq!(scene.signed(), 4);
}

/// A chain with the same answer for every authorization.
struct Says(AuthorizationState);

impl Chain for Says {
    fn network(&self) -> Caip2 {
        base()
    }

    async fn authorization(
        &self,
        _: Address,
        _: Address,
        _: Word,
    ) -> Result<AuthorizationState, String> {
        Ok(self.0)
    }
}

#[test]
fn after_a_payment_expired_only_the_chain_ends_it() {
    for (used, state) in [(false, State::Released), (true, State::Settled)] {
        let scene = Scene::before(vec![lost()]);
        assert_eq!(code(scene.impatient()), "payment_unknown");
        scene.wait(Duration::from_mins(3));
        let before = scene.sent().len();
        for _ in 0..2 {
            let error = scene.impatient().unwrap_err();
            let words = format!("{error:?}");
            assert!(words.contains("has expired") && words.contains("reconcile"), "{words}");
            assert_eq!(code(Err(error)), "payment_unknown");
        }
        assert_eq!((scene.sent().len(), scene.signed()), (before + 2, 1), "once each");
        let block_time_s = START_MS / 1000 + 180;
        let says = Says(AuthorizationState { used, block_time_s });
        now(scene.ledger().reconcile(&says)).unwrap();
        assert_eq!(scene.states(), [state]);
        scene.then(settled());
        assert_eq!(scene.impatient().unwrap().status, 200);
        assert_eq!((scene.signed(), scene.spent()), (2, if used { 20_000 } else { 10_000 }));
    }
}

#[test]
fn an_answer_without_a_settlement_lets_the_payment_expire() {
    let scene = Scene::before(vec![old()]);
    scene.impatient().unwrap();
    scene.wait(Duration::from_mins(3));
    scene.impatient().unwrap();
    assert_eq!((scene.signed(), scene.spent()), (2, 20_000));
}

#[test]
fn a_settlement_without_an_answer_is_not_paid_for_again() {
    let paid_not = told(set(answer(500), "retry-after", Some("1")), true, "");
    let scene = Scene::before(vec![Ok(paid_not)]);
    for _ in 0..2 {
        let error = scene.impatient().unwrap_err();
        assert!(
            error.to_string().contains("was settled, but the service did not answer"),
            "{error}"
        );
        assert_eq!(code(Err(error)), "payment_unknown");
        assert_eq!((scene.signed(), scene.states()), (1, vec![State::Settled]));
    }
    scene.then(old());
    assert_eq!(scene.impatient().unwrap().status, 200);
    assert_eq!(scene.signed(), 1);
    assert!(scene.open_files().is_empty());
}

#[test]
fn an_open_payment_that_cannot_be_read_is_not_passed_over() {
    let scene = Scene::before(vec![lost()]);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    let [file] = &scene.open_files()[..] else { panic!("one open payment") };
    let good = fs::read_to_string(file).unwrap();
    let entries = scene.ledger().entries().unwrap();
    let nonce = entries[0].sent.as_ref().unwrap().nonce;
    let other = {
        let record: serde_json::Value = serde_json::from_str(&good).unwrap();
        let header = base64ct::Base64::decode_vec(record["value"].as_str().unwrap()).unwrap();
        let text = String::from_utf8(header).unwrap();
        assert!(text.contains(&nonce.to_string()));
        let changed = text.replace(&nonce.to_string(), &Word([9; 32]).to_string());
        let changed = base64ct::Base64::encode_string(changed.as_bytes());
        good.replace(record["value"].as_str().unwrap(), &changed)
    };
    let sent = scene.sent().len();
    for bad in ["", "{}", &good[1..], &good.replace("\"v\":1", "\"v\":2"), &other] {
        fs::write(file, bad).unwrap();
        assert_eq!(code(scene.impatient()), "ledger_unreadable", "{bad}");
    }
    assert_eq!(scene.sent().len(), sent, "nothing was sent");
    fs::write(file, &good).unwrap();
    assert_eq!(code(scene.impatient()), "payment_unknown", "the control");
    assert_eq!(scene.signed(), 1);
}

#[test]
fn a_payment_that_another_process_is_sending_is_left_to_it() {
    let scene = Scene::before(vec![lost()]);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    let [file] = &scene.open_files()[..] else { panic!("one open payment") };
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let held = |pid: u32, until_ms: u64| {
        let mut record = record.clone();
        record["pid"] = json!(pid);
        record["until_ms"] = json!(until_ms);
        fs::write(file, record.to_string()).unwrap();
    };
    // If its process has ended, or its time is over, it is sent again. Process 1 always exists.
    let soon = scene.shop.clock.load(Ordering::SeqCst) + 45_000;
    held(u32::MAX, soon);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    held(1, 0);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    assert_eq!(scene.signed(), 1);
    held(1, soon);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    assert_eq!(scene.signed(), 2, "another request, by another process");
}

#[cfg(unix)]
#[test]
fn an_open_payment_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::before(vec![lost()]);
    assert_eq!(code(scene.impatient()), "payment_unknown");
    let [file] = &scene.open_files()[..] else { panic!("one open payment") };
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file), mode(file.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn nothing_is_sent_that_cannot_be_kept() {
    let scene = Scene::before(vec![settled()]);
    fs::write(scene.folder.path().join("ledger.jsonl.open"), "a file in its place").unwrap();
    assert_eq!(code(scene.impatient()), "ledger_unreadable");
    assert_eq!(scene.sent().len(), 0);
    fs::remove_file(scene.folder.path().join("ledger.jsonl.open")).unwrap();
    assert_eq!(scene.impatient().unwrap().status, 200, "the control");
}
