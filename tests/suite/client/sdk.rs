//! The client with the real service, and with services that fail or lie.

use std::cell::RefCell;
use std::fs;
use std::process::Command;
use std::time::Duration;

use exitgap_api::operations::Method;
use exitgap_api::operations::{Held, Into, PortfolioAsked, PositionAsked};
use exitgap_api::{Days, Guards, Interval, RowOrder};
use exitgap_client::{
    BaseUrl, Client, ClientError, EvidenceOf, HistoryOf, LogWatch, Memory, Native, Options,
    Request, Response, Storage, Transport, TransportError, TrustBasis, rank_routes,
};
use exitgap_core::evidence::{Base, CheckName, Outcome, Verdict};
use exitgap_core::exit::OrderPlan;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Fork, Hash, SignerKey};
use exitgap_core::units::{GapLimit, Percent, SizeUsd};
use exitgap_tests::binaries;

use crate::scenes::client::{Meddling, Outcomes, SLOTS, base, scene};

pub fn size(text: &str) -> SizeUsd {
    text.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_computes_what_the_service_answers() {
    let (recorded, service, pool) = scene().await;
    let client = Client::new(Native::new().unwrap(), base(&service));
    assert_eq!(client.pools(None, None).await.unwrap().pools.len(), recorded.world.pools.len());
    let state = client.fetch_snapshot(&pool, None).await.unwrap();
    for base in [None, Some("token0"), Some("token1")] {
        let served = client.exit(&pool, size("25000"), base, None).await.unwrap();
        let computed = state.estimate(size("25000"), base).unwrap();
        assert_eq!(computed, served.answer);
        let ladder = client.ladder(&pool, base, None).await.unwrap();
        let rows = state.ladder(&GapLimit::LADDER, &SizeUsd::STANDARD, base).unwrap();
        assert_eq!(rows.figures.by_size.len(), ladder.answer.figures.by_size.len());
        let ranking = rank_routes(std::slice::from_ref(&rows), &[], size("10000")).unwrap();
        let at_size = rows.figures.by_size.iter().find(|row| row.size_usd.as_str() == "10000");
        let exit = at_size.and_then(|row| row.exit.as_ref()).unwrap();
        assert_eq!(ranking.split.exit_gap_at_most_pct.as_ref(), Some(&exit.exit_gap_pct));
        for (ours, theirs) in rows.figures.by_gap.iter().zip(&ladder.answer.figures.by_gap) {
            assert_eq!((&ours.depth, &ours.exit), (&theirs.depth, &theirs.exit));
        }
    }
    let refused = client.exit(&pool, size("1000000000"), None, None).await.unwrap_err();
    assert_eq!(refused.code(), "beyond_liquidity");
    assert!(refused.into_problem().max_fillable_usd.is_some());
    let unknown: PoolId = format!("anvil:0x{}", "11".repeat(20)).parse().unwrap();
    let refused = client.fetch_snapshot(&unknown, None).await.unwrap_err();
    assert_eq!(refused.code(), "unknown_pool");

    let run = |arguments: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        let output = command.args(arguments).current_dir(recorded.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (api, id) = (base(&service).to_string(), pool.to_string());
    for question in [
        &["estimate", id.as_str(), "--size-usd", "25000"][..],
        &["size", &id, "--gap", "2", "--base", "token1"],
        &["simulate", &id, "--size-usd", "25000", "--orders", "3"],
        &["ladder", &id],
        &["snapshot", &id],
        &["pools"],
    ] {
        let from_api = run(&[question, &["--json", "--api", &api]].concat());
        let from_db = run(&[question, &["--json", "--db", "exitgap.db"]].concat());
        let mut ours = read(&from_db);
        if ["estimate", "ladder", "size", "simulate"].contains(&question[0]) {
            assert!(ours["lowest_depth_7d_usd"].is_number(), "{question:?}");
            assert!(ours["snapshot_age_s"].is_number(), "{question:?}");
            assert_eq!(ours["market_open"], true);
        }
        // Fields that only a service has, and the age, which changes with time.
        let mut theirs = read(&from_api);
        for document in [&mut ours, &mut theirs] {
            let urls = ["evidence_url", "snapshot_url", "window_url", "depths_url"];
            remove(document, &[&["snapshot_age_s"][..], &urls].concat());
        }
        assert_eq!(theirs, ours, "{question:?}");
    }
    // The service's document is printed unchanged, byte for byte except for its age.
    let without_age = |text: &str| {
        let (before, after) = text.split_once("\"snapshot_age_s\":").unwrap();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        (before.to_owned(), after[digits..].to_owned())
    };
    for (question, target) in [
        (&["estimate", id.as_str(), "--size-usd", "$25,000"][..], "exit/{pool}?size_usd=25000"),
        (
            &["estimate", &id, "--size-usd", "25k", "--base", "token1"],
            "exit/{pool}?size_usd=25000&base=token1",
        ),
        (&["ladder", &id], "ladder/{pool}"),
        (&["ladder", &id, "--base", "token1"], "ladder/{pool}?base=token1"),
    ] {
        let printed = run(&[question, &["--json", "--api", &api]].concat());
        let served = service.get(&format!("/v1/{}", target.replace("{pool}", &id))).body;
        let served = String::from_utf8(served).unwrap() + "\n";
        assert_eq!(without_age(&printed), without_age(&served), "{question:?}");
        assert!(printed.contains("\"evidence_url\":\"http"), "{printed}");
    }
    // The text output is the same, too.
    for source in [["--api", &api], ["--db", "exitgap.db"]] {
        let text = run(&[&["estimate", id.as_str(), "--size-usd", "25k"][..], &source].concat());
        for line in
            ["lowest depth", "market          open (continuous)", "method          1.0.0", "s old"]
        {
            assert!(text.contains(line), "{line}: {text}");
        }
        let evidence = text.contains("evidence        http");
        assert_eq!(evidence, source[0] == "--api", "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_orders_and_guards_are_the_services() {
    let (_recorded, service, pool) = scene().await;
    let client = Client::new(Native::new().unwrap(), base(&service));
    let state = client.fetch_snapshot(&pool, None).await.unwrap();
    for base in [None, Some("token1")] {
        let limit = GapLimit::DEPTH;
        let served = client.max_size(&pool, limit, base, None).await.unwrap();
        assert_eq!(state.max_size_for(limit, base).unwrap(), served.answer);
        let recovery = Percent::parse("12.5").unwrap();
        let plan = OrderPlan::new(size("25000"), 7, recovery, 60).unwrap();
        let served = client.simulate(&pool, &plan, base, None).await.unwrap();
        assert_eq!(state.simulate_orders(plan, base).unwrap(), served.answer);
    }
    // Guards apply to every question, and the client also checks them with its own clock.
    let age_s = state.published.snapshot_age_s;
    let now_s = state.provenance.slot().unwrap().unix_s() + age_s;
    for (guards, code) in [
        (Guards { max_age_s: Some(0), ..Guards::default() }, "snapshot_too_old"),
        (
            Guards { min_days_observed: Days::parse("7").ok(), ..Guards::default() },
            "series_too_short",
        ),
        (Guards { require_live: true, ..Guards::default() }, "not_live"),
    ] {
        assert_eq!(state.check(&guards, now_s).unwrap_err().code.as_str(), code);
        let guarded = client.clone().with_guards(guards);
        let limit = GapLimit::DEPTH;
        let held = Held::InPool { pool: pool.clone(), base: None };
        let positions = vec![PositionAsked { held, size: size("5") }];
        let cash = Into::Group(Into::CASH.to_owned());
        let asked = PortfolioAsked { positions, into: cash, tolerance: Percent(0), guards };
        let refusals = [
            guarded.exit(&pool, size("25000"), None, None).await.unwrap_err(),
            guarded.max_size(&pool, limit, None, None).await.unwrap_err(),
            guarded.fetch_snapshot(&pool, None).await.unwrap_err(),
            guarded.portfolio(&asked).await.unwrap_err(),
        ];
        assert!(refusals.iter().all(|refusal| refusal.code() == code), "{refusals:?}");
    }
    let met = Guards {
        max_age_s: Some(u32::MAX),
        min_days_observed: Days::parse("0.01").ok(),
        require_live: false,
    };
    state.check(&met, now_s).unwrap();
    client.clone().with_guards(met).fetch_snapshot(&pool, None).await.unwrap();
}

/// Parses a document; plain text becomes a string.
fn read(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Removes these fields at any depth.
fn remove(value: &mut serde_json::Value, names: &[&str]) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            for value in fields.values_mut() {
                remove(value, names);
            }
        }
        serde_json::Value::Array(values) => {
            for value in values {
                remove(value, names);
            }
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_saw_is_held_against_what_it_is_shown_later() {
    let (recorded, service, pool) = scene().await;
    let client = Client::new(Native::new().unwrap(), base(&service));
    let url = client.exit(&pool, size("1000"), None, None).await.unwrap().evidence_url.unwrap();
    let of = EvidenceOf::from_url(&url).unwrap();
    let memory = Memory::default();
    let first = LogWatch::new(&client, &memory, Vec::new());
    let found = first.verify_remote(&of, true).await.unwrap();
    assert_eq!(found.report.report.verdict, Verdict::Valid, "{:?}", found.report);
    assert_eq!(found.log.basis, TrustBasis::FirstUse);
    let again = LogWatch::new(&client, &memory, Vec::new()).verify_remote(&of, true).await.unwrap();
    assert_eq!(again.log.basis, TrustBasis::Kept);
    assert_eq!(again.log.seen, Some(found.log.newest.clone()));
    let consistency = again.report.report.check(CheckName::Consistency).unwrap();
    assert_eq!(consistency.outcome, Outcome::Pass);

    // An older checkpoint of the same log is stored: the tiles prove that the log has grown.
    let key = fs::read_to_string(recorded.path("exitgap.key")).unwrap();
    let (newest, _) = Checkpoint::from_note(&found.log.newest).unwrap();
    let key: SignerKey = key.trim_end().parse().unwrap();
    let key = key.with_name(&newest.origin.to_string()).unwrap();
    let name = format!("exitgap checkpoint {}", key.verifier());
    let tile = service.get(&format!("/log/tile/0/000.p/{SLOTS}")).body;
    let leaves: Vec<Hash> = tile.as_chunks::<32>().0.iter().copied().map(Hash).collect();
    let older =
        Checkpoint { size: 3, root: exitgap_core::tlog::root(&leaves[..3]), ..newest.clone() };
    memory.put(&name, &key.sign(&older.to_text()).unwrap());
    let grown = LogWatch::new(&client, &memory, Vec::new()).log().await.unwrap();
    assert_eq!(grown.contradiction, None);
    assert_eq!(memory.get(&name), Some(grown.newest));

    // Checkpoints of the same sizes with other roots: the history was rewritten, and the older checkpoint stays stored.
    for slots in [3, newest.size] {
        let other = Checkpoint { size: slots, root: Hash([7; 32]), ..newest.clone() };
        let note = key.sign(&other.to_text()).unwrap();
        memory.put(&name, &note);
        let watch = LogWatch::new(&client, &memory, Vec::new());
        let shown = watch.log().await.unwrap();
        let proof = shown.contradiction.expect("two states that exclude each other");
        assert_eq!(proof.checkpoints, [note.clone(), found.log.newest.clone()]);
        // With only the key, the proof file suffices to verify the fork.
        let fork = Fork::from_canonical(proof.fork.unwrap().as_bytes()).unwrap();
        let judged = fork.judge(&[key.verifier()]).unwrap();
        assert_eq!(judged.sizes, [slots, newest.size]);
        assert!(fork.judge(&[]).is_err());
        assert_eq!(memory.get(&name), Some(note), "the older state is not forgotten");
        let found = watch.verify_remote(&of, false).await.unwrap();
        assert_eq!(found.report.report.verdict, Verdict::Invalid);
        let check = found.report.report.check(CheckName::Consistency).unwrap();
        assert_eq!(check.outcome, Outcome::Fail, "{check:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_service_sends_is_not_believed() {
    let (_recorded, service, pool) = scene().await;
    let flipped = Meddling::new(|request: &Request, outcome: Outcomes| {
        outcome.map(|mut response| {
            if request.url.contains("/snapshots/") {
                response.body[20] ^= 1;
            }
            response
        })
    });
    let error =
        Client::new(&flipped, base(&service)).fetch_snapshot(&pool, None).await.unwrap_err();
    assert_eq!(error.code(), "not_as_specified");
    assert!(error.to_string().contains("the hash of the served bytes is 0x"), "{error}");

    let torn = Meddling::new(|request: &Request, outcome: Outcomes| {
        outcome.map(|mut response| {
            if request.url.ends_with("/v1/pools") {
                response.body.truncate(30);
            }
            response
        })
    });
    let error = Client::new(&torn, base(&service)).pools(None, None).await.unwrap_err();
    assert!(error.to_string().contains("not the expected document"), "{error}");

    // The snapshot must belong to the slot that the answer names, and that slot to the requested time.
    let honest = Client::new(Native::new().unwrap(), base(&service));
    let newest = honest.fetch_snapshot(&pool, None).await.unwrap().snapshot.slot();
    let earlier = Slot::new(u64::from(newest.number()) - 1).unwrap();
    let found = honest.fetch_snapshot(&pool, Some(&earlier.to_string())).await.unwrap();
    assert_eq!(found.snapshot.slot(), earlier);
    for (at, told, why) in [
        (None, earlier, "but names a snapshot of slot"),
        (Some(earlier.to_string()), newest, "or earlier was requested, but"),
    ] {
        let lying = Meddling::new(|request: &Request, _: Outcomes| {
            let target = request.url.split_once(&service.address.to_string()).unwrap().1;
            let mut answer = service.get(target.split('?').next().unwrap());
            if target.starts_with("/v1/ladder/") {
                let mut ladder = answer.json();
                ladder["window"]["to"] = told.to_string().into();
                answer.body = ladder.to_string().into();
            }
            Ok(Response { status: answer.status, headers: Vec::new(), body: answer.body })
        });
        let client = Client::new(&lying, base(&service));
        let error = client.fetch_snapshot(&pool, at.as_deref()).await.unwrap_err();
        assert_eq!(error.code(), "not_as_specified");
        assert!(error.to_string().contains(why), "{error}");
    }

    // Reading stops at the limit, which is shorter than a snapshot.
    let native = Native::new().unwrap();
    let url = format!("{}/v1/openapi.json", base(&service));
    let timeout = Duration::from_secs(15);
    let (accept, max_bytes, fresh) = ("application/json", 1_000, false);
    let (method, body, headers) = (Method::Get, Vec::new(), Vec::new());
    let request = Request { method, body, url, accept, timeout, max_bytes, fresh, headers };
    assert_eq!(native.send(&request).await, Err(TransportError::TooLarge { max_bytes: 1_000 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_series_of_another_question_is_no_answer() {
    let (_recorded, service, pool) = scene().await;
    let of = HistoryOf {
        pool,
        base: Some(Base::Token0),
        size: size("1000"),
        interval: Interval::FiveMinutes,
        order: RowOrder::Ascending,
        from: None,
        to: None,
        cursor: None,
    };
    let honest = Client::new(Native::new().unwrap(), base(&service));
    assert_eq!(honest.history(&of).await.unwrap().rows.len(), SLOTS);
    assert_eq!(honest.stress(&of, None).await.unwrap().of.base, "token0");
    // A complete and genuine series, but of another pool, base token or size.
    for (asked, sent) in [
        (of.pool.to_string(), "anvil:0x00000000000000000000000000000000000000ff"),
        ("\"base\":\"token0\"".to_owned(), "\"base\":\"token1\""),
        ("\"size_usd\":1000,".to_owned(), "\"size_usd\":10000,"),
    ] {
        let swapping = Meddling::new(|_: &Request, outcome: Outcomes| {
            outcome.map(|response| {
                let text = String::from_utf8(response.body).unwrap();
                assert!(text.contains(&asked), "{asked} in {text}");
                Response { body: text.replace(&asked, sent).into_bytes(), ..response }
            })
        });
        let client = Client::new(&swapping, base(&service));
        let errors =
            [client.history(&of).await.unwrap_err(), client.stress(&of, None).await.unwrap_err()];
        for error in errors {
            assert!(error.to_string().contains("it returned the series for"), "{error}");
        }
    }
}

fn answered(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Response { status, headers: headers.collect(), body: body.into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_repeated_only_where_that_may_help() {
    let (_recorded, service, _) = scene().await;
    // In a browser, the client sees only the headers that the service exposes to other origins.
    let answer = service.get("/v1/pools");
    let exposed = answer.header("access-control-expose-headers").unwrap().split(',');
    let exposed: Vec<&str> = exposed.map(str::trim).collect();
    for header in Response::HEADERS.iter().filter(|header| **header != "content-type") {
        assert!(exposed.contains(header), "{header} of {exposed:?}");
    }
    let failing = RefCell::new(2);
    let flaky = Meddling::new(|_: &Request, outcome: Outcomes| {
        if *failing.borrow() == 0 {
            return outcome;
        }
        *failing.borrow_mut() -= 1;
        Err(TransportError::Unreachable("connection reset".to_owned()))
    });
    let client = Client::new(&flaky, base(&service));
    assert!(!client.pools(None, None).await.unwrap().pools.is_empty());
    assert_eq!(flaky.asked.borrow().len(), 3);
    assert_eq!(flaky.paused.borrow().len(), 2);
    assert!(flaky.paused.borrow()[1] > flaky.paused.borrow()[0]);

    let problem = r#"{"code":"no_snapshot_yet","detail":"nothing yet","status":503}"#;
    // The client waits at least as long as requested and adds its own random share.
    let future = r#"{"code":"from_the_future","detail":"x","status":404}"#;
    for (status, headers, body, code, pauses) in [
        (503, &[("retry-after", "300")][..], problem, "no_snapshot_yet", &[][..]),
        (503, &[("retry-after", "1")], problem, "no_snapshot_yet", &[1_007, 1_007]),
        (429, &[("retry-after", "0")], problem, "not_as_specified", &[107, 207]),
        (503, &[], "<html>", "not_as_specified", &[107, 207]),
        (404, &[], future, "from_the_future", &[]),
        (302, &[("location", "http://elsewhere.example")], "", "not_as_specified", &[]),
    ] {
        let transport =
            Meddling::new(|_: &Request, _: Outcomes| Ok(answered(status, headers, body)));
        let client = Client::new(&transport, base(&service));
        let error = client.pools(None, None).await.unwrap_err();
        let paused: Vec<u128> = transport.paused.borrow().iter().map(Duration::as_millis).collect();
        assert_eq!((error.code(), &paused[..]), (code, pauses), "{status}");
        assert_eq!(transport.asked.borrow().len(), pauses.len() + 1, "{status}");
    }

    let challenge = [
        ("x-payment-amount", "0.01"),
        ("x-payment-currency", "USDC"),
        ("x-payment-network", "eip155:8453"),
        ("x-payment-recipient", "0xabc"),
    ];
    let transport = Meddling::new(|_: &Request, _: Outcomes| Ok(answered(402, &challenge, "{}")));
    let error = Client::new(&transport, base(&service)).capabilities().await.unwrap_err();
    let ClientError::PaymentRequired { challenge, .. } = &error else { panic!("{error:?}") };
    assert_eq!((challenge.amount.as_str(), challenge.currency.as_str()), ("0.01", "USDC"));
    assert_eq!(transport.asked.borrow().len(), 1);

    let patience = Options { timeout: Duration::from_millis(1), retries: 0, ..Options::default() };
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(Native::new().unwrap(), url).with_options(patience);
    assert_eq!(client.capabilities().await.unwrap_err().code(), "timed_out");
    for wrong in
        ["", "exitgap.example", "ftp://x", "http://", "http://a b", "https://u@h", "https://h?x"]
    {
        let problem = wrong.parse::<BaseUrl>().unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("api"), "{wrong}");
    }
}
