//! Every question about a pool, for every kind of pool: the answer equals that of the browser module, or a specific
//! rejection.

use std::collections::BTreeSet;
use std::process::Command;

use exitgap_core::tlog::Checkpoint;
use exitgap_tests::binaries;
use exitgap_wasm::{OpenSnapshot, verify};
use serde_json::Value;

use crate::scenes::here::{Here, With, stored};
use crate::scenes::kinds::{self, KINDS};
use crate::scenes::store::{key, slot};

const SLOTS: u32 = 3;
const BASES: [&str; 2] = ["token0", "token1"];
/// Kinds of pools whose book can be computed at other prices.
const WITH_BOOKS: [&str; 4] =
    ["constant_product", "concentrated_liquidity", "concentrated_v4", "concentrated_linked"];

fn served() -> (tempfile::TempDir, Here) {
    let slots: Vec<_> = (0..SLOTS).map(|n| kinds::entries(slot(n))).collect();
    let folder = stored(&slots);
    let limits = With::default();
    let here = Here::start(folder.path(), limits);
    here.refresh();
    (folder, here)
}

/// The target of an absolute address.
fn target(url: &Value) -> String {
    let url = url.as_str().unwrap();
    url[url.find("/api/").unwrap()..].to_owned()
}

/// A document in the form of the module.
fn module(document: impl serde::Serialize) -> Value {
    serde_json::to_value(document).unwrap()
}

/// Requires that the service and the module give the same answer or the same rejection; returns the answer.
fn alike<T: serde::Serialize>(
    served: &crate::scenes::service::Answer,
    ours: Result<T, exitgap_api::Problem>,
    fields: &[&str],
    what: &str,
) -> Option<Value> {
    match ours {
        Ok(ours) => {
            let (served, ours) = (served.found(), module(ours));
            for field in fields {
                assert!(!served[field].is_null(), "{what}: no {field} in {served}");
                assert_eq!(served[field], ours[field], "{what}: {field}");
            }
            Some(served)
        }
        Err(problem) => {
            let (status, code, _) = served.problem();
            assert_eq!((status, code.as_str()), (422, problem.code.as_str()), "{what}");
            None
        }
    }
}

/// Removes the fields that only a service has.
fn plain(rows: &Value) -> Value {
    let mut rows = rows.clone();
    for row in rows.as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("evidence_url");
    }
    rows
}

#[test]
fn one_snapshot_answers_every_question_or_refuses_by_name() {
    let entries = kinds::entries(slot(0));
    let states = entries.iter().map(|entry| entry.reading.as_ref().unwrap().observation().state());
    let places: BTreeSet<_> = states.map(kinds::place).collect();
    assert_eq!(places, (0..=9).collect(), "every kind is here");
    let (_folder, here) = served();
    for (vector, protocol, _) in KINDS {
        let pool = kinds::pool(vector).to_string();
        let is_sized = protocol != "cryptoswap";
        let first = here.get(&format!("/v1/exit/{pool}?size_usd=1000.5")).found();
        let snapshot = here.get(&target(&first["evidence_url"])).body;
        assert_eq!(first["pool"], pool.as_str(), "pools of one contract are told apart");
        let opened = OpenSnapshot::from_file(&snapshot).unwrap();
        for base in BASES {
            let what = format!("{vector}, {base}");
            let ask =
                |path: &str, query: &str| here.get(&format!("{path}/{pool}?base={base}&{query}"));

            let figures = [
                "exit_gap_pct",
                "amount_out_raw",
                "split",
                "realized_price_usd",
                "marginal_price_usd",
            ];
            for size in ["1000.5", "0.01", "1000000000"] {
                let answer = ask("/v1/exit", &format!("size_usd={size}"));
                alike(&answer, opened.estimate(base, size), &figures, &format!("{what}, {size}"));
            }

            let answer = ask("/v1/size", "gap_pct=2");
            let sized = alike(
                &answer,
                opened.max_size_for(base, "2"),
                &["max_size_usd", "limited_by"],
                &what,
            );
            assert_eq!(sized.is_some(), is_sized, "{what}");
            if !is_sized {
                assert_eq!(answer.problem().1, "sizing_not_exact", "{what}");
            }

            let answer = ask("/v1/simulate", "size_usd=1000&orders=3&recovery_pct=50");
            let ours = opened.simulate_orders(base, "1000", 3, "50", 0);
            let followed =
                alike(&answer, ours, &["fills", "exit_gap_pct", "amount_out_raw"], &what);
            assert_eq!(followed.is_some(), is_sized, "{what}");
            if !is_sized {
                assert_eq!(answer.problem().1, "orders_not_exact", "{what}");
            }

            let ladder = ask("/v1/ladder", "").found();
            let ours = module(opened.ladder(base, &[], &[]).unwrap());
            for rows in ["by_gap", "by_size"] {
                assert_eq!(plain(&ladder[rows]), plain(&ours[rows]), "{what}: {rows}");
            }
            for row in ladder["by_gap"].as_array().unwrap() {
                let refused = row["problem"]["code"].as_str();
                assert_eq!(refused, (!is_sized).then_some("sizing_not_exact"), "{what}: {row}");
                assert_eq!(row["max_size_usd"].is_null(), !is_sized, "{what}: {row}");
            }
        }
    }
}

/// A ladder as the command line prints it.
fn printed_ladder(here: &Here, pool: &str, base: &str) -> String {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(["ladder", pool, "--base", base, "--api", &format!("http://{}", here.address)]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{pool}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A smaller sale may lose more only if the fee depends on the size, and then a row says so.
#[test]
fn a_row_says_where_a_smaller_size_is_worse() {
    let (_folder, here) = served();
    let mut told = BTreeSet::new();
    for (vector, ..) in KINDS {
        let pool = kinds::pool(vector);
        for base in BASES {
            let ladder = here.get(&format!("/v1/ladder/{pool}?base={base}")).found();
            let rows = ["by_gap", "by_size"].map(|rows| ladder[rows].as_array().unwrap().clone());
            for row in rows.concat() {
                let Some(worse) = row["worse_below_usd"].as_number() else { continue };
                let exit =
                    here.get(&format!("/v1/exit/{pool}?base={base}&size_usd={worse}")).found();
                let gap = |value: &Value| value.as_f64().unwrap();
                let limit = if row["gap_limit_pct"].is_null() {
                    &row["exit"]["exit_gap_pct"]
                } else {
                    &row["gap_limit_pct"]
                };
                assert!(gap(&exit["exit_gap_pct"]) > gap(limit), "{vector}: {row}");
                told.insert(vector);
            }
            let printed = printed_ladder(&here, &pool.to_string(), base);
            let is_told =
                |rows: &[Value]| rows.iter().any(|row| row["worse_below_usd"].is_number());
            assert_eq!(printed.contains(" is worse"), is_told(&rows[0]), "{vector}: {printed}");
            assert_eq!(printed.contains("worse at USD"), is_told(&rows[1]), "{vector}: {printed}");
        }
    }
    assert!(told.contains("stableswap_steep"), "{told:?}");
    let varies = |vector: &&str| {
        vector.starts_with("stableswap_ng")
            || vector.starts_with("stableswap_off")
            || *vector == "stableswap_steep"
    };
    assert!(told.iter().all(varies), "{told:?}");
}

#[test]
fn a_series_answers_every_question_or_refuses_by_name() {
    let (_folder, here) = served();
    let note = String::from_utf8(here.get("/log/checkpoint").body).unwrap();
    let (checkpoint, _) = Checkpoint::from_note(&note).unwrap();
    let log = key().with_name(&checkpoint.origin.to_string()).unwrap();
    let keys = [log.verifier().to_string()];
    for (vector, protocol, _) in KINDS {
        let pool = kinds::pool(vector).to_string();
        let is_sized = protocol != "cryptoswap";
        let answer = here.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
        let evidence = here.get(&target(&answer["evidence_url"])).body;
        let window = here.get(&target(&answer["window_url"])).body;
        let report = module(verify(&evidence, &keys, None, Some(window)).unwrap());
        assert_eq!(report["verdict"], "valid", "{vector}: {report}");
        let head = &serde_json::from_slice::<Value>(&evidence).unwrap()["head"];
        for field in ["depth_usd", "lowest_depth_7d_usd"] {
            let told = head[field].as_array().unwrap();
            assert_eq!(told.len(), 2, "{vector}");
            assert!(told.iter().all(|depth| depth.is_null() != is_sized), "{vector}: {head}");
        }

        let history = here.get(&format!("/v1/history/{pool}?size_usd=1000&interval=5m")).found();
        let rows = history["rows"].as_array().unwrap();
        assert_eq!(rows.len(), SLOTS as usize, "{vector}");
        for row in rows {
            assert_eq!(row["last"]["exit_gap_pct"], answer["exit_gap_pct"], "{vector}: {row}");
            assert_eq!(row["lowest_depth"].is_null(), !is_sized, "{vector}: {row}");
        }
        let stress = here.get(&format!("/v1/stress/{pool}?size_usd=1000")).found();
        assert_eq!(stress["worst_gap"]["exit_gap_pct"], answer["exit_gap_pct"], "{vector}");
        assert_eq!(stress["lowest_depth"].is_null(), !is_sized, "{vector}: {stress}");
        here.get(&format!("/v1/hours/{pool}?size_usd=1000")).found();

        for figure in
            [format!("/v1/decay/{pool}?"), format!("/v1/exposure?venue={pool}&cascade_usd=1000")]
        {
            let answer = here.get(&figure);
            if WITH_BOOKS.contains(&protocol) {
                answer.found();
            } else {
                assert_eq!(answer.problem().1, "figure_unsupported_kind", "{vector}: {figure}");
            }
        }
        let gap = format!("/v1/alerts/backtest/{pool}?kind=gap_above&size_usd=1000&pct=0.001");
        let depth = format!("/v1/alerts/backtest/{pool}?kind=depth_below&usd=1&at_pct=2");
        here.get(&gap).found();
        here.get(&depth).found();
    }
}

#[test]
fn pools_beside_each_other_answer_together_and_have_names_of_their_own() {
    let (_folder, here) = served();
    let all: BTreeSet<String> =
        KINDS.iter().map(|(vector, ..)| kinds::pool(vector).to_string()).collect();
    let board = here.get("/v1/fragility?limit=100").found();
    let rows = board["rows"].as_array().unwrap();
    let told = |rows: &[Value], field: &str| -> BTreeSet<String> {
        rows.iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(told(rows, "pool"), all);
    assert_eq!(
        told(rows, "name").len(),
        rows.len(),
        "two rows with one name: {:?}",
        told(rows, "name")
    );
    for row in rows {
        let is_sized = !row["name"].as_str().unwrap().contains("crypto");
        assert_eq!(row["depth_usd"].is_null(), !is_sized, "{row}");
    }
    assert!(told(rows, "name").iter().any(|name| name.contains("crypto")));

    let positions = all.iter().map(|pool| format!("position={pool}:1000"));
    let portfolio =
        here.get(&format!("/v1/portfolio?{}", positions.collect::<Vec<_>>().join("&"))).found();
    let exits = portfolio["exits"].as_array().unwrap();
    assert_eq!(told(exits, "pool"), all);
    for exit in exits {
        let (result, pool) = (&exit["result"], exit["pool"].as_str().unwrap());
        if result.is_null() {
            assert!(exit["problem"]["code"].is_string(), "{exit}");
        } else {
            let alone = here.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
            assert_eq!(result["exit_gap_pct"], alone["exit_gap_pct"], "{exit}");
        }
    }
}

#[test]
fn every_venue_of_a_token_is_compared_or_left_out_by_name() {
    let (_folder, here) = served();
    let board = here.get("/v1/fragility?limit=100").found();
    let rows = board["rows"].as_array().unwrap();
    let told = |rows: &[Value]| -> BTreeSet<String> {
        rows.iter().map(|row| row["pool"].as_str().unwrap().to_owned()).collect()
    };
    let crypto = kinds::pool("cryptoswap");
    let token = here.get(&format!("/v1/exit/{crypto}?size_usd=1&base=token0")).found();
    let token = token["base"]["address"].as_str().unwrap().to_owned();
    let selling: BTreeSet<String> = rows
        .iter()
        .filter(|row| {
            [&row["base"], &row["quote"]].iter().any(|one| one["address"] == token.as_str())
        })
        .map(|row| row["pool"].as_str().unwrap().to_owned())
        .collect();
    let routes = here.get(&format!("/v1/routes/anvil/{token}?size_usd=1000")).found();
    let split = |field: &str| routes[field].as_array().cloned().unwrap_or_default();
    let (alone, left_out) = (split("alone"), split("left_out"));
    let venues: BTreeSet<String> = told(&alone).union(&told(&left_out)).cloned().collect();
    assert_eq!(venues, selling);
    for venue in &alone {
        assert!(venue["exit_gap_pct"].is_number() || venue["code"].is_string(), "{venue}");
    }
    for venue in &left_out {
        assert!(venue["code"].is_string() && venue["detail"].is_string(), "{venue}");
    }
    assert!(!split("legs").is_empty());
}
