//! Paid estimates: the next head commits to their receipts, the holder of a receipt finds it in the log, and can
//! compute the estimate again at later slots.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::analytics::accuracy::IssuedReceipts;
use exitgap_core::ids::{Address, BlockHash, PoolId, Word};
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::payments::{ClaimToken, Family, NewPayment, PaymentSettlement, Payments};
use exitgap_store::{LogFolder, Reader, Store};
use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured};
use crate::scenes::till::Till;
use crate::scenes::usdc::Scene;

/// A paid service on a chain that continues.
struct Shop<'a> {
    till: Till,
    market: Market<'a>,
}

impl<'a> Shop<'a> {
    async fn new(chain: &'a DevChain, world: &'a World) -> Self {
        let folder = configured(chain, world);
        let mut market = Market::new(chain, world, 4).await.unwrap();
        market.play_slot(FIRST_SLOT).await.unwrap();
        Self::begin(&folder).await;
        let paid_on = Scene::new().await;
        let url = paid_on.chain.url();
        let last = Slot::new(FIRST_SLOT).unwrap();
        let recorded = Recorded { folder, world: world.clone(), last };
        let till = Till::of(paid_on, &url, recorded);
        till.mine_at_once().await;
        Self { till, market }
    }

    /// Records the first slot.
    async fn begin(folder: &TempDir) {
        let checked = CheckedConfig::from_file(&folder.path().join("exitgap.toml")).unwrap();
        let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
        let store = Store::create(&checked.config.store.path, &key.trim_end().parse().unwrap());
        let sources = Source::of_plan(&checked.plan, &Limits::default());
        let mut recorder = Recorder::new(store.unwrap(), sources, Duration::from_mins(1));
        recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
        let report = recorder.record_slot(Slot::new(FIRST_SLOT).unwrap()).await.unwrap();
        assert!(report.missing.is_empty(), "{report:?}");
        recorder.close().unwrap();
    }

    fn checked(&self) -> CheckedConfig {
        CheckedConfig::from_file(&self.till.recorded.path("exitgap.toml")).unwrap()
    }

    /// Opens the store; only one process may do so at a time.
    fn store(&self) -> Store {
        let checked = self.checked();
        let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
        Store::open(&checked.config.store.path, &key.trim_end().parse().unwrap()).unwrap()
    }

    fn payments(&self) -> Payments {
        Payments::open(&self.till.database()).unwrap()
    }

    /// A recorder that commits to the issued receipts.
    fn recorder(&self) -> Recorder<ChainReader> {
        let checked = self.checked();
        let sources = Source::of_plan(&checked.plan, &Limits::default());
        let mut recorder = Recorder::new(self.store(), sources, Duration::from_mins(1));
        recorder.commit_issued(self.payments());
        recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
        recorder
    }

    /// Simulates and records these slots, by their positions in the series.
    async fn record(&mut self, places: std::ops::RangeInclusive<u64>) {
        let mut recorder = self.recorder();
        for place in places {
            self.market.play_slot(FIRST_SLOT + place).await.unwrap();
            let slot = Slot::new(FIRST_SLOT + place).unwrap();
            let report = recorder.record_slot(slot).await.unwrap();
            assert!(report.missing.is_empty(), "{report:?}");
        }
        recorder.close().unwrap();
    }

    /// Pays for the scene's estimate; returns the receipt.
    fn buy(&self, service: &Service, nonce: u8) -> String {
        let answer = self.till.pay(service, &self.till.header(service, nonce));
        answer.found();
        answer.header("x-payment-receipt").unwrap().to_owned()
    }

    /// The receipts that the pool's heads commit to, by slot position.
    fn committed(&self, pool: &str) -> Vec<(u64, Vec<Word>)> {
        let reader = Reader::open(self.till.recorded.path("exitgap.db")).unwrap();
        let id: PoolId = pool.parse().unwrap();
        let pool = reader.pool(&id).unwrap().unwrap();
        let page = reader.issued_documents(&pool, [Slot::FIRST, Slot::LAST], 99).unwrap();
        let place = |slot: Slot| u64::from(slot.number()) - FIRST_SLOT;
        page.entries.into_iter().map(|one| (place(one.slot), one.issued.receipts)).collect()
    }

    /// The files of the payment database and their contents, while no process has it open.
    fn database(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(self.till.recorded.folder.path()).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let is_its = |path: &PathBuf| path.to_string_lossy().contains("payments.db");
        paths.filter(is_its).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// Stores a receipt for an estimate of this pool, as the service does.
    fn sell_of(&self, pool: &str) {
        let settled = PaymentSettlement {
            transaction: Word([1; 32]),
            block: 1,
            block_hash: BlockHash([2; 32]),
            settled_s: 1,
        };
        let payment = NewPayment {
            key: "of-another-pool".to_owned(),
            fingerprint: [3; 32],
            family: Family::Transfer,
            signed: false,
            payer: Address([4; 20]),
            amount: 1,
            identifier: None,
            authorization: Vec::new(),
            valid_before_s: 2,
            since_block: 0,
            answer: b"{}".to_vec(),
            resource_url: "https://example.org".to_owned(),
            settled: Some(settled),
        };
        let payments = self.payments();
        payments.claim(&payment, ClaimToken([5; 16]), 1).unwrap();
        payments.keep_receipt("of-another-pool", "a.b.c", &pool.parse().unwrap()).unwrap();
    }

    /// Restores the payment database, as if the process had ended before it stored what it had sealed.
    fn put_back(&self, database: Vec<(PathBuf, Vec<u8>)>) {
        for (path, _) in self.database() {
            fs::remove_file(path).unwrap();
        }
        for (path, bytes) in database {
            fs::write(&path, bytes).unwrap();
            // The server rejects a database that others may read.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// The log's verifier key, as an argument.
    fn log_key(&self) -> String {
        let log = self.till.recorded.path("exitgap-log").join("verifier-key");
        fs::read_to_string(log).unwrap().trim().to_owned()
    }

    fn verify(&self, receipt: &str, log: &str) -> (Option<i32>, Value) {
        self.verify_with(receipt, &["--log", log, "--trust", &self.log_key()])
    }

    fn verify_with(&self, receipt: &str, more: &[&str]) -> (Option<i32>, Value) {
        fs::write(self.till.recorded.path("receipt"), receipt).unwrap();
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["verify-receipt", "receipt", "--key", "payments.json", "--json"]);
        let output = command.args(more).current_dir(self.till.recorded.folder.path());
        let output = output.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let document = serde_json::from_slice(&output.stdout);
        let document = document.or_else(|_| serde_json::from_slice(&output.stderr));
        (output.status.code(), document.unwrap_or_else(|_| panic!("{said}")))
    }
}

/// Returns the outcome and the code of a check in the report.
fn check<'r>(report: &'r Value, name: &str) -> (&'r str, Option<&'r str>) {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["check"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name} in {report:#}"));
    (found["outcome"].as_str().unwrap(), found["code"].as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_head_commits_to_a_receipt_and_its_holder_finds_it_and_quotes_again() {
    let (chain, world) = scene().await;
    let mut shop = Shop::new(&chain, &world).await;
    let pool = shop.till.pool.clone();
    let service = shop.till.serve();
    let named = service.get("/v1/payments").body;
    fs::write(shop.till.recorded.path("payments.json"), named).unwrap();
    let mut receipts = [1, 2].map(|nonce| shop.buy(&service, nonce));
    let early = shop.verify(&receipts[0], "exitgap-log");
    assert_eq!(early.0, Some(7), "{:#}", early.1);
    assert_eq!(check(&early.1, "committed"), ("not_checked", Some("receipt_not_committed_yet")));
    // The configured recorder commits to both receipts of this pool, and to none of other pools.
    shop.market.play_slot(FIRST_SLOT + 1).await.unwrap();
    let at = (FIRST_SLOT + 1).to_string();
    let record = ["record", "--rehearse-at", &at, "--until", &at];
    let mut recorded = Command::new(binaries::path("exitgap-server"));
    let recorded = recorded.args(record).current_dir(shop.till.recorded.folder.path()).output();
    let recorded = recorded.unwrap();
    let said = String::from_utf8_lossy(&recorded.stderr);
    assert!(recorded.status.success(), "{said}");
    receipts.sort_by_key(|receipt| IssuedReceipts::receipt_of(receipt));
    let names = |receipts: &[String]| -> Vec<Word> {
        receipts.iter().map(|receipt| IssuedReceipts::receipt_of(receipt)).collect()
    };
    assert_eq!(shop.committed(&pool), [(1, names(&receipts))], "{said}");
    assert!(shop.committed(&shop.till.recorded.pool(1)).is_empty());
    assert!(shop.payments().uncommitted_receipts(9).unwrap().is_empty());
    // A repeated answer adds no receipt; a new one appears in a later head.
    shop.buy(&service, 1);
    let third = shop.buy(&service, 3);
    shop.record(2..=12).await;
    let expected = [(1, names(&receipts)), (2, names(std::slice::from_ref(&third)))];
    assert_eq!(shop.committed(&pool), expected);

    // The service returns the documents, which contain nothing about the payers.
    let told = service.get(&format!("/v1/issued/{pool}?slot={FIRST_SLOT}"));
    let lines: Vec<&[u8]> = told.body.split(|byte| *byte == b'\n').collect();
    let (slot, issued, _) = IssuedReceipts::from_line(lines[0]).unwrap();
    assert_eq!((slot.number().into(), issued.receipts), (FIRST_SLOT + 1, names(&receipts)));
    assert_eq!(lines.len(), 3, "two, each with its line break");
    let payer = format!("{:#x}", shop.till.scene.payer.address());
    assert!(!String::from_utf8(told.body.clone()).unwrap().contains(&payer[2..]));

    // The holder of a receipt finds it in the folder and at the service that publishes the log.
    let url = format!("http://{}", service.address);
    for log in ["exitgap-log", &url] {
        let (code, report) = shop.verify(&receipts[1], log);
        assert_eq!(code, Some(0), "{report:#}");
        assert_eq!(check(&report, "log"), ("pass", None));
        assert_eq!(check(&report, "committed"), ("pass", None));
        assert_eq!(report["log"]["committed_in"], FIRST_SLOT + 1);
        // The same sale at later slots, compared with the service's own answers.
        let requotes = report["log"]["requotes"].as_array().unwrap();
        let at: Vec<_> = requotes.iter().map(|later| later["slots_later"].as_u64()).collect();
        assert_eq!(at, [1, 2, 6, 12].map(Some));
        let estimate = |place: u64| -> Value {
            let at = Slot::new(FIRST_SLOT + place).unwrap();
            let mut command = Command::new(binaries::path("exitgap"));
            let ask =
                ["estimate", &pool, "--size-usd", "1000", "--db", "exitgap.db", "--json", "--at"];
            command.args(ask).arg(at.to_string());
            let output = command.current_dir(shop.till.recorded.folder.path()).output().unwrap();
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let first = estimate(0);
        let mut moved = 0;
        for (later, place) in requotes.iter().zip([1, 2, 6, 12]) {
            assert_eq!(later["slot"], FIRST_SLOT + place);
            let error: f64 = later["error_pct"].as_str().unwrap().parse().unwrap();
            let out = |of: &Value| of.as_str().unwrap().parse::<f64>().unwrap();
            let worse = out(&first["amount_out_raw"]) > out(&later["amount_out_raw"]);
            let same = first["amount_out_raw"] == later["amount_out_raw"];
            assert!(if same { error == 0.0 } else { worse == (error > 0.0) }, "{later:#}");
            moved += u32::from(!same);
        }
        assert!(moved > 0, "the market moved: {report:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_that_no_head_commits_to_is_missed_and_none_is_committed_to_twice() {
    let (chain, world) = scene().await;
    let mut shop = Shop::new(&chain, &world).await;
    let pool = shop.till.pool.clone();
    let service = shop.till.serve();
    fs::write(shop.till.recorded.path("payments.json"), service.get("/v1/payments").body).unwrap();
    let receipt = shop.buy(&service, 1);
    // The recorder was interrupted after sealing the slot and before updating its list: the next run does not commit to
    // the receipt again.
    let name = IssuedReceipts::receipt_of(&receipt);
    drop(service);
    let before = shop.database();
    shop.record(1..=1).await;
    assert_eq!(shop.committed(&pool), [(1, vec![name])]);
    assert!(shop.payments().uncommitted_receipts(9).unwrap().is_empty());
    shop.put_back(before);
    assert_eq!(shop.payments().uncommitted_receipts(9).unwrap().len(), 1, "the fault is there");
    shop.record(2..=2).await;
    assert_eq!(shop.committed(&pool), [(1, vec![name])]);
    assert!(shop.payments().uncommitted_receipts(9).unwrap().is_empty());
    // A receipt of a pool without further heads neither blocks the recording nor stays in the list.
    shop.sell_of("anvil:0x9999999999999999999999999999999999999999");
    assert_eq!(shop.payments().uncommitted_receipts(9).unwrap().len(), 1);
    shop.record(3..=3).await;
    assert!(shop.payments().uncommitted_receipts(9).unwrap().is_empty());
    // A withheld receipt is in no head. Whether it is overdue depends on the receipt's own time, which the simulated
    // series never reaches.
    let service = shop.till.serve();
    let kept_back = shop.buy(&service, 2);
    shop.payments().mark_committed(&[IssuedReceipts::receipt_of(&kept_back)]).unwrap();
    shop.record(4..=4).await;
    let (_, report) = shop.verify(&kept_back, "exitgap-log");
    assert_eq!(check(&report, "committed"), ("not_checked", Some("receipt_not_committed_yet")));
    assert_eq!(report["log"].get("committed_in"), None);
    // The log is not checked with keys that it names itself; and a key without a log is useless.
    let (code, report) = shop.verify_with(&receipt, &["--log", "exitgap-log"]);
    assert_eq!((code, check(&report, "committed").0), (Some(7), "pass"));
    assert_eq!(check(&report, "log"), ("not_checked", Some("log_keys_not_trusted")));
    let (code, problem) = shop.verify_with(&receipt, &["--trust", &shop.log_key()]);
    assert_eq!((code, &problem["field"]), (Some(2), &json!("trust")));
    // A log that fails its own checks is not accepted.
    let file = shop.till.recorded.path(&format!("exitgap-log/issued/{}.zst", FIRST_SLOT + 1));
    fs::write(&file, b"xx").unwrap();
    let (code, report) = shop.verify(&receipt, "exitgap-log");
    assert_eq!(code, Some(6));
    assert_eq!(check(&report, "log"), ("fail", Some("issued_invalid")));
    assert_eq!(report["log"], json!(null));
}
