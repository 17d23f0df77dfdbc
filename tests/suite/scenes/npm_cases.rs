//! Questions for the WebAssembly module and the native answers of the same code: every shared vector of evidence
//! (including attacks) and of quotes, and the ladders of their snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_api::Problem;
use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash};
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    Symbol, Token,
};
use exitgap_tests::parity::vector::{Vector, VectorState};
use exitgap_wasm::{OpenSnapshot, SplitOver, Venues, recompute, verify};
use serde::Serialize;
use serde_json::{Value, json};

/// A question and its native answer.
#[derive(Debug, Serialize)]
pub struct Case {
    pub ask: &'static str,
    pub args: Vec<Option<String>>,
    pub expected: String,
    pub thrown: bool,
}

/// The input of a consumer's program.
#[derive(Debug, Serialize)]
pub struct Questions {
    pub cases: Vec<Case>,
    /// The ladders to rank, as documents.
    pub ladders: Vec<Value>,
    pub snapshot: String,
    pub evidence: String,
    pub keys: Vec<String>,
}

impl Case {
    fn new(ask: &'static str, args: &[Option<&str>], answer: Result<String, String>) -> Self {
        let args = args.iter().map(|arg| arg.map(str::to_owned)).collect();
        let thrown = answer.is_err();
        let expected = answer.unwrap_or_else(|problem| problem);
        Self { ask, args, expected, thrown }
    }
}

/// The JSON of an answer or of its problem.
fn document<T: Serialize>(answer: Result<T, Problem>) -> Result<String, String> {
    answer
        .map(|answer| serde_json::to_string(&answer).unwrap())
        .map_err(|problem| serde_json::to_string(&problem).unwrap())
}

pub fn vectors(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(kind);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors of {kind}");
    files
}

/// All questions.
pub fn all() -> Questions {
    let mut cases = Vec::new();
    let mut snapshots: Vec<String> = Vec::new();
    let mut first = None;
    for path in vectors("evidence") {
        let vector: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let evidence = vector["evidence"].as_str().unwrap();
        cases.push(verification(evidence, &vector["policy"]));
        let recomputed = document(recompute(evidence.as_bytes()));
        cases.push(Case::new("recompute", &[Some(evidence)], recomputed));
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("true_")) {
            let file: Value = serde_json::from_str(evidence).unwrap();
            let mut snapshot = json!({ "snapshot": file["snapshot"], "state": file["state"] });
            let of_several = file["snapshot"]["tokens"].as_array().unwrap().len() > 2;
            if of_several {
                snapshot["pool"] = file["request"]["pool"].clone();
            }
            let snapshot = snapshot.to_string();
            let keys = strings(&vector["policy"]["keys"]);
            first.get_or_insert_with(|| (snapshot.clone(), evidence.to_owned(), keys));
            snapshots.push(snapshot);
        }
    }
    let mut ladders = Vec::new();
    for snapshot in &snapshots {
        ladders.extend(questions(snapshot, &mut cases));
    }
    let ladders = venues(ladders);
    cases.extend(ranking(&ladders));
    let mut venues: Vec<String> = Vec::new();
    for (number, path) in (0..).zip(vectors("quotes")) {
        venues.push(fills(number, &path, &mut cases));
    }
    cases.extend(splits(&venues));
    let (snapshot, evidence, keys) = first.unwrap();
    Questions { cases, ladders, snapshot, evidence, keys }
}

fn strings(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn verification(evidence: &str, policy: &Value) -> Case {
    let (keys, proof) = (strings(&policy["keys"]), strings(&policy["seen"]["proof"]));
    let (lines, hashes) = (keys.join("\n"), proof.join("\n"));
    let note = policy["seen"]["note"].as_str();
    let window = policy["window"].as_str();
    let heads = window.map(|window| window.as_bytes().to_vec());
    let seen = note.map(|note| (note.to_owned(), proof.as_slice()));
    let answer = verify(evidence.as_bytes(), &keys, seen, heads);
    Case::new(
        "verify",
        &[Some(evidence), Some(&lines), note, Some(&hashes), window],
        document(answer),
    )
}

/// Asks all questions about a snapshot; returns its ladders.
fn questions(snapshot: &str, cases: &mut Vec<Case>) -> Vec<Value> {
    let opened = OpenSnapshot::from_file(snapshot.as_bytes()).unwrap();
    let mut ladders = Vec::new();
    for named in ["token0", "token1", "DOGE", ""] {
        let mut case = |ask, rest: &[&str], answer: Result<String, String>| {
            let args = [snapshot, named].into_iter().chain(rest.iter().copied());
            cases.push(Case::new(ask, &args.map(Some).collect::<Vec<_>>(), answer));
        };
        for size in ["0.01", "1", "99.999999", "12345.678901", "1000000000", "0", "1e3"] {
            case("estimate", &[size], document(opened.estimate(named, size)));
            for (orders, recovery) in [(1, "0"), (7, "33.333333"), (0, "0"), (3, "101")] {
                let answer = opened.simulate_orders(named, size, orders, recovery, 12);
                let rest = [size, &orders.to_string(), recovery, "12"];
                case("simulateOrders", &rest, document(answer));
            }
        }
        for gap in ["-100", "0", "0.3", "2", "99.5", "100", "x"] {
            case("maxSizeFor", &[gap], document(opened.max_size_for(named, gap)));
        }
        for (gaps, sizes) in [("", ""), ("5\n0.5\n5", "1\n70.5"), ("", "0")] {
            let answer = document(opened.ladder(named, &lines(gaps), &lines(sizes)));
            let parsed = |ladder: &String| serde_json::from_str::<Value>(ladder).unwrap();
            ladders.extend(answer.iter().map(parsed));
            case("ladder", &[gaps, sizes], answer);
        }
    }
    ladders
}

/// The lines of a text; none if it is empty.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The maximum number of ladders to rank, each as if it belonged to a separate pool.
fn venues(mut ladders: Vec<Value>) -> Vec<Value> {
    ladders.truncate(12);
    for (number, ladder) in ladders.iter_mut().enumerate() {
        ladder["pool"] = format!("chain{number}:0x{number}").into();
    }
    ladders
}

/// Ranks ladders row by row, like `pkg/api.js`.
fn ranking(ladders: &[Value]) -> Vec<Case> {
    let mut calls: Vec<Vec<Value>> = Vec::new();
    let mut venues = Venues::default();
    for ladder in ladders {
        assert_eq!(ladder["status"], "preview");
        let pool = ladder["pool"].as_str().unwrap();
        let address = ladder["base"]["address"].as_str().unwrap();
        calls.push(vec![pool.into(), false.into(), address.into()]);
        venues.venue(pool, false, address);
        let rows =
            ["by_gap", "by_size"].into_iter().flat_map(|rows| ladder[rows].as_array().unwrap());
        for exit in rows.map(|row| &row["exit"]).filter(|exit| exit.is_object()) {
            let split = &exit["split"];
            let numbers =
                [&exit["size_usd"], &exit["exit_gap_pct"], &split["basis_pct"], &split["fee_pct"]];
            let [size, gap, basis, fee] = numbers.map(Value::to_string);
            venues.row(&size, &gap, &basis, &fee).unwrap();
            calls.push([size, gap, basis, fee].into_iter().map(Value::from).collect());
        }
    }
    let calls = serde_json::to_string(&calls).unwrap();
    let costs = vec!["0.5"; ladders.len()].join("\n");
    let ask = |costs: &str, size: &str| {
        let answer = document(venues.rank(&lines(costs), size));
        Case::new("rankRoutes", &[Some(&calls), Some(costs), Some(size)], answer)
    };
    vec![
        ask("", "1000"),
        ask(&costs, "250000.5"),
        ask("", "1000000000"),
        ask("1", "1000"),
        ask("", ""),
    ]
}

/// Splits sizes over these snapshots of one slot.
fn splits(snapshots: &[String]) -> Vec<Case> {
    let ask = |venues: &[String], base: &str, costs: &str, size: &str| {
        let mut over = SplitOver::default();
        let mut refused = None;
        for venue in venues {
            let opened = OpenSnapshot::from_file(venue.as_bytes()).unwrap();
            refused = refused.or(over.add(&opened, base).err());
        }
        let answer = match refused {
            Some(problem) => Err(serde_json::to_string(&problem).unwrap()),
            None => document(over.best(&lines(costs), size)),
        };
        let venues = serde_json::to_string(venues).unwrap();
        Case::new("bestSplit", &[Some(&venues), Some(base), Some(costs), Some(size)], answer)
    };
    let few = &snapshots[..snapshots.len().min(5)];
    let costs = vec!["0.5"; few.len()].join("\n");
    vec![
        ask(few, "token0", "", "1000"),
        ask(few, "token1", &costs, "0.25"),
        ask(&snapshots[..snapshots.len().min(14)], "token0", "", "250000.5"),
        ask(few, "token0", "1", "1000"),
        ask(few, "DOGE", "", "1000"),
        ask(few, "token0", "", "1e3"),
        ask(&[few[0].clone(), few[0].clone()], "token0", "", "1"),
        ask(&[], "token0", "", "1"),
    ]
}

/// Sells the amounts of a vector and compares the results with the contract's.
fn fills(number: u8, path: &Path, cases: &mut Vec<Case>) -> String {
    let vector = Vector::read(path).unwrap();
    let snapshot = snapshot_of(number, &vector.state);
    let opened = OpenSnapshot::from_file(snapshot.as_bytes()).unwrap();
    let base = if vector.token_in == 0 { "token0" } else { "token1" };
    for sale in &vector.sales {
        let amount = sale.amount_in.to_string();
        let paid = opened.fill(vector.token_in, sale.amount_in.into_limbs());
        let answer = paid.map(|limbs| U256::from_limbs_slice(&limbs).to_string());
        let word = serde_json::to_value(&sale.expected).unwrap();
        // A v3 pool swaps an amount for nothing; that does not count as a fill.
        let refusal = match (word["outcome"].as_str(), word["amount_out"].as_str()) {
            (Some("filled"), Some("0")) | (Some("zero_output"), _) => "rounds_to_no_output",
            (Some("filled"), paid) => {
                assert_eq!(answer.as_ref().ok().map(String::as_str), paid);
                ""
            }
            _ => "beyond_liquidity",
        };
        assert!(answer.as_ref().err().is_none_or(|problem| problem.code.as_str() == refusal));
        assert_eq!(answer.is_err(), !refusal.is_empty(), "{word}");
        cases.push(Case::new(
            "fill",
            &[Some(&snapshot), Some(base), Some(&amount)],
            document(answer),
        ));
    }
    snapshot
}

/// A snapshot of a vector's pool with a price of one dollar for both tokens.
fn snapshot_of(number: u8, state: &VectorState) -> String {
    let state: PoolState = state.check().unwrap();
    let slot = Slot::FIRST;
    let timestamp = slot.unix_s() - 4;
    let block = BlockRef { hash: BlockHash([9; 32]), number: timestamp / 12, timestamp };
    let token = |last: u8, symbol| Token {
        address: Address([last; 20]),
        decimals: 18,
        symbol: Symbol::clean(symbol),
    };
    let reading =
        |role| OracleReading { role, answer: U256::ONE, decimals: 0, source: OracleSource::Fixed };
    let observation = Observation::new(
        format!("anvil:0x{}", format!("{:02x}", number + 1).repeat(20)).parse().unwrap(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        block,
        [token(1, "ONE"), token(2, "TWO")],
        state,
        vec![reading(OracleRole::TokenUsd(0)), reading(OracleRole::TokenUsd(1))],
        Vec::new(),
    );
    let snapshot = Snapshot::new(slot, observation.unwrap()).unwrap();
    assert_eq!(Direction::BOTH.len(), 2);
    let documents = snapshot.to_canonical().unwrap();
    String::from_utf8(documents.to_file(snapshot.observation().pool()).unwrap()).unwrap()
}
