//! Requirements for every readable address. The tests iterate over the table of operations, so a new operation needs no
//! new test code.

use std::cell::RefCell;

use exitgap_api::operations::{Answer, Keep, Kind, Method, Operation, Parameter, Place, Row};
use exitgap_tests::devchain::FIRST_SLOT;

use crate::scenes::here::until;
use crate::scenes::service::{Recorded, Service, recorded};

/// Enough requests per minute for every operation and parameter.
const UNLIMITED: (&str, &str) = ("EXITGAP_HTTP_RATE_PER_MINUTE", "1000000");

/// The error codes for an invalid parameter value.
const INVALID: [&str; 3] = ["invalid_parameter", "invalid_pool", "unknown_method_version"];

/// Ids and values of the recording, from which valid parameter values are built.
struct Known {
    pool: String,
    chain: &'static str,
    token: String,
    quote: String,
    snapshot: String,
    state: String,
}

impl Known {
    fn of(recorded: &Recorded, service: &Service) -> Self {
        let pool = recorded.pool(0);
        let newest = service.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
        let snapshot = newest["method"]["depth_source"]["snapshot_hash"].as_str();
        let snapshot = snapshot.expect("an exit names its snapshot").to_owned();
        let document = service.get(&format!("/api/v1/snapshots/{snapshot}")).json();
        let state = document["state"].as_str().expect("a snapshot names its state").to_owned();
        let token = format!("{:#x}", recorded.world.pools[0].pool.token0);
        let quote = format!("{:#x}", recorded.world.pools[0].pool.token1);
        Self { pool, chain: "anvil", token, quote, snapshot, state }
    }

    /// A valid value for a parameter.
    fn value(&self, row: &Row, parameter: &Parameter) -> String {
        let pool = &self.pool;
        match parameter.kind {
            Kind::Pool | Kind::Pools => pool.clone(),
            Kind::Chain => self.chain.to_owned(),
            Kind::Address => self.token.clone(),
            Kind::Size => "1000".to_owned(),
            Kind::Token => "token0".to_owned(),
            Kind::Date => "2026-08-22".to_owned(),
            Kind::Instant => "2026-08-22T00:05:00Z".to_owned(),
            Kind::Slot | Kind::SlotCursor => FIRST_SLOT.to_string(),
            Kind::Whole(least, _) => least.to_string(),
            Kind::Rank | Kind::Tick => "0".to_owned(),
            Kind::Share | Kind::Gap | Kind::Cost | Kind::Days | Kind::Amount => "1".to_owned(),
            Kind::Units => "1000000000000".to_owned(),
            Kind::Sold => format!("{}:1000000000000", self.token),
            Kind::Into => self.quote.clone(),
            Kind::OneOf(words) => words[0].to_owned(),
            Kind::Positions => format!("{pool}:1000"),
            Kind::Venues => format!("{pool}/token0"),
            Kind::Code | Kind::Word => "rpc_unavailable".to_owned(),
            Kind::EventId => format!("{FIRST_SLOT}.0"),
            Kind::Ticket => format!("ext_{}", "A".repeat(70)),
            Kind::Hash if row.operation == Operation::State => self.state.clone(),
            Kind::Hash => self.snapshot.clone(),
            Kind::LogFile => "checkpoint".to_owned(),
            Kind::WebhookUrl => "https://hooks.example/exits".to_owned(),
            Kind::EvidenceUrl => {
                format!("/api/v1/exit/{pool}?base=token0&slot={FIRST_SLOT}&size_usd=1")
            }
        }
    }

    /// The address with all required parameters except `without`, and with additional query parameters.
    fn address(&self, row: &Row, without: Option<&str>, more: &[(&str, &str)]) -> String {
        let of = |place: Place| {
            row.parameters.iter().copied().filter(move |parameter| parameter.place == place)
        };
        let mut path = row.template.to_owned();
        for parameter in of(Place::Path) {
            let name = format!("{{{}}}", parameter.name);
            path = path.replace(&name, &self.value(row, parameter));
        }
        let is_replaced = |name: &str| more.iter().any(|(other, _)| *other == name);
        let mut query: Vec<String> = of(Place::Query)
            .filter(|one| one.is_required() && without != Some(one.name) && !is_replaced(one.name))
            .map(|one| format!("{}={}", one.name, self.value(row, one)))
            .collect();
        query.extend(more.iter().map(|(name, value)| format!("{name}={value}")));
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }
}

/// Invalid values of a parameter, in the form that an address contains.
fn refused_values(kind: Kind) -> Vec<String> {
    let beyond = match kind {
        Kind::Whole(least, most) => {
            vec![(i64::from(least) - 1).to_string(), (i64::from(most) + 1).to_string()]
        }
        _ => Vec::new(),
    };
    let others = match kind {
        Kind::Slot | Kind::Rank | Kind::Tick | Kind::Whole(..) => {
            &["", "1.5", "1e3", "0x10", "one", "99999999999999999999"][..]
        }
        Kind::SlotCursor => &["", "1.5", "one", "desc-", "desc-5957855", "99999999999999999999"],
        Kind::Size => &["", "0", "0.001", "1000000001", "1.0000001", "-1", "1e3", "NaN", "1,000"],
        Kind::Into => &["", "USDC", "0x12", "cash,cash", ","],
        Kind::Units => &["", "0", "01", "-1", "1.5", "1e3", "0x10"],
        Kind::Sold => &["", "5", "0x12:5", "WETH:5"],
        Kind::Amount => &["", "0", "0.0", "-1", "1e3", "NaN", "1,000", ".5", "5.", "%2B5"],
        Kind::Share | Kind::Cost | Kind::Days => {
            &["", "-1", "1e3", "NaN", "inf", "1,000", ".5", "%2B5", "99999999999999999999"]
        }
        Kind::Gap => &["", "1e3", "NaN", "inf", "1,0", ".5", "101"],
        Kind::OneOf(_) => &["", "no_such_word"],
        Kind::Instant => &["", "now", "2026-08-22", "2026-13-01T00:00:00Z"],
        Kind::Date => &["", "today", "2026-02-30"],
        Kind::Pool | Kind::Pools | Kind::Venues => &["", "nonsense", "anvil:0x12"],
        Kind::Positions => &["", "5", "anvil:0x12:5"],
        Kind::Chain => &["UP", "a_b"],
        Kind::Address | Kind::Hash => &["", "0x12", "WETH"],
        Kind::EventId => &["", "5", "a.b"],
        _ => &[],
    };
    let always = ["%01", "%FF"];
    always.iter().chain(others).map(|&value| value.to_owned()).chain(beyond).collect()
}

/// The read operations without a secret. The other operations are for the operator or for owners of rules.
fn public() -> impl Iterator<Item = &'static Row> {
    let rows = Operation::list_all().map(Operation::row).filter(|row| row.method == Method::Get);
    rows.filter(|row| {
        !matches!(row.answer, Answer::Nothing | Answer::Readiness)
            && !row.refusals.contains(&401)
            && row.operation != Operation::Stream
    })
}

/// Whether the service answers 304 to a request that names the answer's `ETag`, in one of five tries: an answer that states
/// its snapshot's age can change between two requests.
fn is_unchanged(service: &Service, target: &str) -> bool {
    (0..5).any(|_| {
        let answer = service.get(target);
        let etag = answer.header("etag").unwrap_or_else(|| panic!("{target}: no ETag"));
        let again = service.ask("GET", target, &[("If-None-Match", etag)]);
        (again.status, again.body.len()) == (304, 0)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers_and_keeps_the_conventions() {
    let recorded = recorded(4).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[UNLIMITED]);
    // The table of accuracy changes until every pool has a row.
    until("every pool has a row", || service.get("/v1/accuracy").found()["waiting"] == 0);
    let known = Known::of(&recorded, &service);
    let (mut asked, mut answered, mut wrong) = (0, Vec::new(), Vec::new());
    for row in public() {
        // The parameters that a rule needs depend on its kind.
        let rule = [("size_usd", "1000"), ("pct", "1")];
        let cash = [("size_usd", "1000"), ("into", known.quote.as_str())];
        let more = match row.operation {
            Operation::AlertsOf => &rule[..],
            Operation::Cash => &cash,
            _ => &[],
        };
        let target = known.address(row, None, more);
        let answer = service.get(&target);
        asked += 1;
        if answer.status != 200 {
            let (status, code, _) = answer.problem();
            let is_known = status != 400 && row.refusals.contains(&status);
            if !is_known {
                wrong.push(format!("{target}: {status} {code}"));
            }
            continue;
        }
        answered.push(row.id);
        let head = service.ask("HEAD", &target, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0), "HEAD {target}");
        assert_eq!(head.header("content-type"), answer.header("content-type"), "HEAD {target}");
        if row.keep != Some(Keep::Never) {
            assert!(is_unchanged(&service, &target), "{target}: not 304 in one of five tries");
        }
        if let Some(Keep::Seconds(seconds)) = row.keep {
            let kept = answer.header("cache-control").unwrap_or_default();
            assert!(kept.ends_with(&format!("max-age={seconds}")), "{target}: {kept}");
        }
        let method = service.ask("PUT", &target, &[]);
        assert_eq!(method.problem().1, "method_not_allowed", "PUT {target}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // If only few requests succeeded, the test would prove nothing.
    assert!(answered.len() * 3 >= asked * 2, "only {answered:?} of {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_parameter_is_checked_and_its_refusal_names_it() {
    let recorded = recorded(4).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[UNLIMITED]);
    let known = Known::of(&recorded, &service);
    // Collects all failures, so that one does not hide the others.
    let wrong = RefCell::new(Vec::new());
    let refused = |target: &str, codes: &[&str], field: &str| {
        let answer = service.get(target);
        let (status, code, named) = answer.problem();
        let hint = answer.json()["hint"].as_str().unwrap_or_default().to_owned();
        let is_named = named.as_deref() == Some(field);
        if status != 400 || !codes.contains(&code.as_str()) || !is_named || hint.is_empty() {
            wrong.borrow_mut().push(format!("{target}: {}", answer.body_text()));
        }
    };
    let mut values = 0;
    for row in public() {
        refused(
            &known.address(row, None, &[("sise_usd", "1")]),
            &["unknown_parameter"],
            "sise_usd",
        );
        for parameter in row.parameters.iter().filter(|one| one.place == Place::Query) {
            let name = parameter.name;
            for value in refused_values(parameter.kind) {
                refused(&known.address(row, None, &[(name, &value)]), &INVALID, name);
                values += 1;
            }
            if !parameter.kind.is_repeated() {
                let value = known.value(row, parameter);
                let twice = known.address(row, None, &[(name, &value), (name, &value)]);
                refused(&twice, &INVALID, name);
            }
            if parameter.is_required() {
                refused(&known.address(row, Some(name), &[]), &INVALID, name);
            }
        }
    }
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{} are not refused:\n{}", wrong.len(), wrong.join("\n"));
    assert!(values > 300, "{values}");
}
