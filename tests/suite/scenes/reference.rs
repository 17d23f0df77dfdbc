//! The data of the reference: a recorded chain with a tokenized stock, redemption terms, a named shock, stored rules
//! with a webhook, and the example request for each address.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{FIRST_SLOT, World};
use exitgap_tests::receiver::Receiver;
use serde_json::{Value, json};

use super::chain::scene;
use super::here::until;
use super::service::{Answer, Recorded, Service, configured_with, record_in};
use super::share::{Stands, say, share, tables};

/// The service address in the examples, and the webhook of its rules.
pub const BASE: &str = "https://api.example.org";
pub const HOOK: &str = "https://hooks.example.org/exits";

/// The placeholder for the name of a rule in an example.
pub const RULE: &str = "$ALERT";

const TERMS: &str = r#"{"v": 1, "kind": "on_days", "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
  "fee_pct": "0.05", "eligibility": "whoever passed the issuer's checks", "source": "https://issuer.example/terms",
  "read_on": "2026-08-20"}"#;

/// An example request.
pub struct Asked {
    pub id: &'static str,
    pub method: &'static str,
    pub target: String,
    pub body: Option<Value>,
}

pub struct Reference {
    pub recorded: Recorded,
    pub service: Service,
    pub receiver: Receiver,
    weth: String,
    wbtc: String,
    usdc: String,
}

impl Reference {
    pub async fn new() -> Self {
        let (chain, world) = scene().await;
        let due = FIRST_SLOT * 300 + 30 * 86_400;
        say(&chain, Stands { now: 1_500_000, next: 3_000_000, since: due, paused: false }).await;
        let [weth, wbtc] =
            [world.assets[World::WETH].token.address, share(&world)].map(|one| format!("{one:#x}"));
        let (first, share_pool) = (world.pools[0].pool.address, world.pools[2].pool.address);
        let at = |place: u64| Slot::new(FIRST_SLOT + place).unwrap();
        let more = format!(
            "{}\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{weth}\"\nterms = \"terms.json\"\n\n[[shock]]\nname = \"first-hour\"\n\
             about = \"a sale of much\"\npool = \"anvil:{first:#x}\"\nbase = \"WETH\"\nfrom = \"{}\"\nto = \"{}\"\nmove_pct = \"0.01\"\n\
             within_slots = 1\n\n[alerts]\nenabled = true\nallow_networks = [\"127.0.0.0/8\"]\n",
            tables(&world, "scaled_ui", "raw", share_pool),
            at(0),
            at(5),
        );
        let usdc = format!("{:#x}", world.assets[World::USDC].token.address);
        let folder = configured_with(&chain, &world, &more);
        fs::write(folder.path().join("terms.json"), TERMS).unwrap();
        let key = ["key", "alerts", "--out", "alerts.key"];
        let mut made = Command::new(binaries::path("exitgap-server"));
        assert!(made.args(key).current_dir(folder.path()).output().unwrap().status.success());
        let recorded = record_in(&chain, world, folder, 6).await;
        let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
        let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
        until("every pool has a row", || service.get("/v1/accuracy").found()["waiting"] == 0);
        let receiver = Receiver::taking().unwrap();
        Self { recorded, service, receiver, weth, wbtc, usdc }
    }

    /// Its address.
    pub fn here(&self) -> String {
        format!("http://{}", self.service.address)
    }

    /// The example request for each address, by operation, in an order in which all of them succeed.
    pub fn asked(&self) -> Vec<Asked> {
        let (pool, share_pool) = (self.recorded.pool(0), self.recorded.pool(2));
        let (weth, wbtc, usdc) = (&self.weth, &self.wbtc, &self.usdc);
        let slot = self.recorded.last.number();
        let exit = self.answer(&format!("/v1/exit/{pool}?size_usd=10000"));
        let snapshot = exit["method"]["depth_source"]["snapshot_hash"].as_str().unwrap().to_owned();
        let state = self.answer(&format!("/api/v1/snapshots/{snapshot}"))["state"].clone();
        let state = state.as_str().unwrap();
        let decay = format!("/v1/decay/{pool}?move_pct=0.01&within_slots=1");
        let exposure = format!("/v1/exposure?venue={pool}&cascade_usd=10000");
        let stress = format!(
            "/v1/stress?venue={pool}&size_usd=10000&haircut_pct=40&fall_pct=10&limit_pct=1"
        );
        let cash = format!("/v1/cash/anvil/{weth}?size_usd=10000&into={usdc}");
        let portfolio = format!(
            "/v1/portfolio?position=anvil/{weth}:10000&position=anvil/{wbtc}:1000&into={usdc}"
        );
        let hours = format!("/v1/hours/{share_pool}?size_usd=10000");
        let equity = format!("/v1/equities/anvil/{wbtc}?size_usd=5000");
        let accuracy = format!("/v1/accuracy/{pool}");
        let file = |of: &str, at: &str| self.path(self.answer(of).pointer(at).unwrap());
        let read = [
            ("listPools", "/v1/pools".to_owned()),
            ("estimateExit", format!("/v1/exit/{pool}?size_usd=10000")),
            ("maxExitSize", format!("/v1/size/{pool}?gap_pct=1")),
            ("simulateOrders", format!("/v1/simulate/{pool}?size_usd=10000&orders=2")),
            ("readLadder", format!("/v1/ladder/{pool}")),
            ("readHistory", format!("/v1/history/{pool}?size_usd=1000&interval=5m")),
            ("readStress", format!("/v1/stress/{pool}?size_usd=1000&limit_pct=1")),
            ("readWhenToSell", format!("/v1/when/{pool}?size_usd=1000")),
            ("readFragility", "/v1/fragility?limit=1".to_owned()),
            (
                "scorePortfolio",
                format!("/v1/portfolio?position={pool}:1000&position={share_pool}:1000"),
            ),
            ("readPortfolioFile", file(&portfolio, "/plans/0/result/evidence_url")),
            ("compareRoutes", format!("/v1/routes/anvil/{weth}?size_usd=10000")),
            ("sellForCash", cash.clone()),
            ("readCashFile", file(&cash, "/evidence_url")),
            ("readMarketHours", hours.clone()),
            ("readHoursFile", file(&hours, "/figure_url")),
            ("readDepthDecay", decay.clone()),
            ("readDecayFile", file(&decay, "/figure_url")),
            ("readDepthsFile", file(&format!("/v1/exit/{pool}?size_usd=10000"), "/depths_url")),
            ("scoreLiquidationExposure", exposure.clone()),
            ("readExposureFile", file(&exposure, "/figure_url")),
            ("readVenueStress", stress.clone()),
            ("readVenueStressFile", file(&stress, "/figure_url")),
            ("listShocks", "/v1/shocks".to_owned()),
            ("listEquities", "/v1/equities".to_owned()),
            ("readEquity", equity.clone()),
            ("readEquityFile", file(&equity, "/vectors/0/figure_url")),
            ("readRedemption", format!("/v1/redemption/{pool}?size_usd=10000&base=WETH")),
            ("listAccuracy", "/v1/accuracy".to_owned()),
            ("readAccuracy", accuracy.clone()),
            ("readAccuracyFile", file(&accuracy, "/figure_url")),
            (
                "evaluateAlert",
                format!("/v1/alerts/backtest/{pool}?kind=gap_above&size_usd=10000&pct=0.01"),
            ),
            ("listCapabilities", "/v1/capabilities".to_owned()),
            ("readPayments", "/v1/payments".to_owned()),
            ("readEvidence", self.path(&exit["evidence_url"])),
            ("readWindow", format!("/api/v1/window/{pool}?slot={slot}")),
            ("readSlotStatus", format!("/api/v1/status/{pool}?slot={slot}")),
            ("readStateProof", format!("/api/v1/proof/{pool}/{slot}")),
            ("readSnapshot", format!("/api/v1/snapshots/{snapshot}")),
            ("readState", format!("/api/v1/states/{state}")),
            ("readSnapshots", format!("/api/v1/series/{pool}?slot={slot}")),
            ("readFills", format!("/v1/fills/{pool}?slot={FIRST_SLOT}")),
            ("readIssued", format!("/v1/issued/{pool}?slot={slot}")),
            ("listClosedDays", "/v1/export".to_owned()),
            ("readLog", "/log/checkpoint".to_owned()),
            ("streamSlots", format!("/v1/stream?pool={pool}&last_event_id={}.0", slot - 1)),
            ("isAlive", "/livez".to_owned()),
            ("isReady", "/readyz".to_owned()),
            ("readMetrics", "/metrics".to_owned()),
        ];
        let rule = json!({
            "pool": pool, "kind": "gap_above", "size_usd": 10_000, "pct": 2,
            "webhook_url": self.receiver.url("/exits"),
        });
        let of_rule = |rest: &str| format!("/v1/alerts/{RULE}{rest}");
        let owned = [
            ("keepAlert", "POST", "/v1/alerts".to_owned(), Some(rule)),
            ("listAlerts", "GET", "/v1/alerts".to_owned(), None),
            ("readAlert", "GET", of_rule(""), None),
            ("listAlertEvents", "GET", of_rule("/events?after_seq=0&limit=100"), None),
            ("askEndpoint", "POST", of_rule("/verify"), None),
            ("rotateKeys", "POST", of_rule("/rotate"), None),
            ("sendAgain", "POST", of_rule("/replay"), Some(json!({"from_seq": 1}))),
            ("streamTicket", "POST", "/v1/alerts/ticket".to_owned(), Some(json!({}))),
            ("endAlert", "DELETE", of_rule(""), None),
        ];
        let read = read.map(|(id, target)| Asked { id, method: "GET", target, body: None });
        let owned = owned.map(|(id, method, target, body)| Asked { id, method, target, body });
        read.into_iter().chain(owned).collect()
    }

    /// Sends a request; for a rule's owner, with the rule's name and token.
    pub fn ask(&self, asked: &Asked, rule: Option<&(String, String)>) -> Answer {
        if asked.id == "streamSlots" {
            return self.streamed(&asked.target);
        }
        let mut target = asked.target.clone();
        let mut headers = Vec::new();
        if let Some((name, token)) = rule {
            target = target.replace(RULE, name);
            headers.push(format!("Authorization: Bearer {token}\r\n"));
        }
        let body = asked.body.as_ref().map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{} {target} HTTP/1.1\r\nHost: a\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            asked.method,
            headers.concat(),
            body.len()
        );
        self.service.send(request.as_bytes())
    }

    /// Reads a stream until the end of its first pool.
    fn streamed(&self, target: &str) -> Answer {
        let mut stream = TcpStream::connect(self.service.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "GET {target} HTTP/1.0\r\nHost: a\r\n\r\n").unwrap();
        let (mut body, mut seen) = (String::new(), false);
        for line in BufReader::new(stream)
            .lines()
            .map(Result::unwrap)
            .skip_while(|line| !line.is_empty())
            .skip(1)
        {
            seen |= line == "event: pool";
            body.extend([line.as_str(), "\n"]);
            if seen && line.is_empty() {
                break;
            }
        }
        Answer { status: 200, headers: Vec::new(), body: body.into_bytes() }
    }

    /// Waits until the webhook of a rule has been verified.
    pub fn wait_until_verified(&self, rule: &(String, String)) {
        let read = Asked {
            id: "readAlert",
            method: "GET",
            target: format!("/v1/alerts/{RULE}"),
            body: None,
        };
        until("verified", || self.ask(&read, Some(rule)).json()["webhook"]["state"] == "verified");
    }

    fn answer(&self, target: &str) -> Value {
        self.service.get(target).found()
    }

    /// An address of the service without its host.
    fn path(&self, url: &Value) -> String {
        url.as_str().unwrap().strip_prefix(&self.here()).unwrap().to_owned()
    }
}
