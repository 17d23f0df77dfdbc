//! The committed facts, and facts that are changed: each change is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::{OracleReading, OracleRole, OracleSource, RoundData};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::facts::read_file;
use super::*;

/// The files that are judged, and the one that a node is filled from.
const KINDS: [&str; 8] =
    ["bottle", "code", "curve", "feeds", "headers", "proofs", "swaps", "walks"];

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("facts")
}

/// A copy of the facts in which a file is another.
fn changed(kind: &str, change: impl FnOnce(&mut Value)) -> TempDir {
    let folder = TempDir::new().unwrap();
    for kind in KINDS {
        let name = format!("{kind}.json");
        fs::copy(committed().join(&name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join(format!("{kind}.json"));
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut file);
    fs::write(path, file.to_string()).unwrap();
    folder
}

/// The figures of the cases of a kind.
fn figures(folder: &Path, kind: &str) -> Report {
    let (facts, mut report) = (Facts::from_folder(folder).unwrap(), Report::default());
    match kind {
        "swaps" => swaps::check(&facts.swaps, &mut report),
        "curve" => curve::check(&facts.curve, &mut report),
        "headers" => tries::check_headers(&facts.headers, &mut report),
        "walks" => tries::check_walks(&facts.walks, &mut report),
        "proofs" => proofs::check(&facts.proofs, &mut report),
        "feeds" => feeds::check(&facts.feeds, &mut report),
        other => panic!("{other}"),
    }
    report
}

#[test]
fn every_case_is_as_it_must_be() {
    let report = judge(&Facts::from_folder(&committed()).unwrap());
    assert!(report.complaints().is_empty(), "{:#?}", report.complaints());
    let unmet: Vec<String> = report.unmet();
    assert!(unmet.iter().all(|words| words.starts_with("reality.code")), "{unmet:?}");
    for (name, expected) in [
        ("reality.swaps", 193),
        ("reality.equal", 170),
        ("reality.exact_output", 19),
        ("reality.took_less", 3),
        ("reality.refused_by_name", 1),
        ("reality.crossings", 2),
    ] {
        assert_eq!(report.figure(name), Some(expected), "{name}");
    }
}

#[test]
fn every_file_names_where_its_numbers_are_from() {
    for kind in KINDS.into_iter().filter(|kind| *kind != "bottle") {
        let file = read_file::<Value>(&committed(), kind).unwrap();
        assert!(!file.sources.is_empty(), "{kind}");
        for source in &file.sources {
            let is_free = ["MIT", "Apache-2.0", "MIT OR Apache-2.0"].contains(&&*source.licence);
            assert!(is_free && source.commit.len() == 40, "{kind}: {source:?}");
            assert!(source.repo.contains('/') && !source.id.is_empty(), "{kind}: {source:?}");
        }
    }
}

/// What a case of a number is changed into: one more.
fn one_more(number: &mut Value) {
    let text = number.as_str().unwrap();
    let (head, last) = text.split_at(text.len() - 1);
    let last = (last.parse::<u8>().unwrap() + 1) % 10;
    *number = json!(format!("{head}{last}"));
}

#[test]
fn a_swap_of_another_amount_or_another_state_is_wrong() {
    type Change = fn(&mut Value);

    let swaps: Value =
        serde_json::from_slice(&fs::read(committed().join("swaps.json")).unwrap()).unwrap();
    let place = |venue: &str, expect: &str| {
        let cases = swaps["cases"].as_array().unwrap();
        cases.iter().position(|case| case["venue"] == venue && case["expect"] == expect).unwrap()
    };
    let of_pair = place("uniswap_v2", "equal");
    let of_ranges = place("uniswap_v3", "equal");
    let crossing = place("uniswap_v3", "equal_crossing");
    let exact = place("uniswap_v2", "exact_output");
    let refused = place("uniswap_v3", "ticks_unknown");
    let exact_of_ranges = place("uniswap_v3", "exact_output");
    let tries: [(usize, &str, Change); 13] = [
        (exact_of_ranges, "another price after", |case| {
            case["sqrt_price_after"] =
                json!(format!("9{}", case["sqrt_price_after"].as_str().unwrap()));
        }),
        (of_pair, "another amount", |case| one_more(&mut case["amount_out"])),
        (of_pair, "the other direction", |case| case["zero_for_one"] = json!(true)),
        (of_pair, "another reserve", |case| {
            case["reserves"].as_array_mut().unwrap().reverse();
        }),
        (of_ranges, "another amount", |case| one_more(&mut case["amount_out"])),
        (of_ranges, "another price after", |case| one_more(&mut case["sqrt_price_after"])),
        (of_ranges, "another tick after", |case| {
            case["tick_after"] = json!(case["tick_after"].as_i64().unwrap() - 1);
        }),
        (of_ranges, "another liquidity after", |case| one_more(&mut case["liquidity_after"])),
        (crossing, "without its tick", |case| case["ticks"] = json!([])),
        (of_ranges, "said to cross a tick", |case| case["expect"] = json!("equal_crossing")),
        (exact, "much more", |case| {
            case["amount_out"] = json!(format!("9{}", case["amount_out"].as_str().unwrap()));
        }),
        (of_pair, "said to be less than computed", |case| case["expect"] = json!("took_less")),
        (refused, "said to be computed", |case| case["expect"] = json!("equal")),
    ];
    for (at, name, change) in tries {
        let folder = changed("swaps", |file| change(&mut file["cases"][at]));
        let report = figures(folder.path(), "swaps");
        assert_eq!(report.figure("reality.wrong"), Some(1), "{name}: {:?}", report.complaints());
        assert_eq!(report.complaints().len(), 1, "{name}");
    }
    let folder = changed("swaps", |file| {
        let small = &mut file["cases"][refused];
        small["amount_in"] = json!("1000000000");
    });
    // So little does not reach the tick that is not known: it could be computed, and was not to be.
    assert_eq!(figures(folder.path(), "swaps").figure("reality.wrong"), Some(1));
}

#[test]
fn each_other_kind_of_fact_is_noticed_where_it_is_changed() {
    type Change = dyn Fn(&mut Value);

    let flip = |bytes: &mut Value| {
        let text = bytes.as_str().unwrap();
        let other = if text.as_bytes()[40] == b'A' { "B" } else { "A" };
        *bytes = json!([&text[..40], other, &text[41..]].concat());
    };
    let node_of =
        |file: &Value| usize::try_from(file["cases"][0]["nodes"][3].as_u64().unwrap()).unwrap();
    let tries: [(&str, &str, Box<Change>); 9] = [
        (
            "curve",
            "reality.curve_wrong",
            Box::new(|file| one_more(&mut file["cases"][0]["amount_out"])),
        ),
        (
            "headers",
            "reality.headers_differing",
            Box::new(move |file| flip(&mut file["cases"][5]["rlp"])),
        ),
        ("walks", "reality.walks_failed", Box::new(move |file| flip(&mut file["nodes"][4]))),
        ("walks", "reality.walks_failed", Box::new(|file| file["cases"][1][3] = json!("01"))),
        ("walks", "reality.walks_failed", Box::new(|file| file["cases"][0][3] = json!("-"))),
        (
            "proofs",
            "reality.proofs_failed",
            Box::new(move |file| {
                let at = node_of(file);
                flip(&mut file["nodes"][at]);
            }),
        ),
        (
            "proofs",
            "reality.proofs_failed",
            Box::new(|file| {
                file["cases"][0]["words"][0] = json!("0x1");
            }),
        ),
        (
            "proofs",
            "reality.proofs_failed",
            Box::new(|file| {
                file["cases"][2]["code_hash"] = file["cases"][0]["code_hash"].clone();
            }),
        ),
        (
            "feeds",
            "reality.feeds_unproven",
            Box::new(|file| one_more(&mut file["cases"][0]["answer"])),
        ),
    ];
    for (at, (kind, figure, change)) in tries.iter().enumerate() {
        let folder = changed(kind, change);
        let report = figures(folder.path(), kind);
        let count = report.figure(figure).unwrap();
        assert!(count > 0, "{at}: {figure}: {:?}", report.complaints());
        assert!(report.unmet().iter().any(|words| words.starts_with(figure)), "{at}: {figure}");
    }
}

#[test]
fn cases_that_are_not_there_are_a_failure() {
    for (kind, figure) in [
        ("swaps", "reality.swaps is 192"),
        ("headers", "reality.headers is 72"),
        ("walks", "reality.walks is 193"),
        ("proofs", "reality.proofs is 10"),
        ("feeds", "reality.feeds is 10"),
        ("curve", "reality.curve is 0"),
    ] {
        let folder = changed(kind, |file| drop(file["cases"].as_array_mut().unwrap().pop()));
        let unmet = figures(folder.path(), kind).unmet();
        assert!(unmet.iter().any(|words| words.starts_with(figure)), "{kind}: {unmet:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_and_a_file_that_is_damaged_are_named() {
    let absent = committed().join("nowhere");
    let error = Facts::from_folder(&absent).unwrap_err();
    assert!(matches!(error, FactsError::NoFolder(_)) && error.to_string().contains("nowhere"));
    for kind in KINDS.into_iter().filter(|kind| *kind != "bottle") {
        let name = format!("{kind}.json");
        let folder = changed("bottle", |_| {});
        let path = folder.path().join(&name);
        let whole = fs::read_to_string(&path).unwrap();
        for damaged in [
            String::new(),
            whole[..whole.len() / 2].to_owned(),
            format!("{whole}}}"),
            whole.replacen("exitgap.reality", "exitgap.other", 1),
            whole.replacen("/1\"", "/2\"", 1),
            whole.replacen("\"cases\"", "\"case\"", 1),
            whole.replacen("\"licence\": \"MIT\"", "\"licence\": \"\"", 1).replacen(
                "\"licence\":\"MIT\"",
                "\"licence\":\"\"",
                1,
            ),
        ] {
            if damaged == whole {
                continue;
            }
            fs::write(&path, damaged).unwrap();
            let error = Facts::from_folder(folder.path()).unwrap_err();
            assert!(matches!(error, FactsError::Damaged { .. }), "{kind}: {error}");
            assert!(error.to_string().contains(&name), "{error}");
        }
        fs::remove_file(&path).unwrap();
        let error = Facts::from_folder(folder.path()).unwrap_err();
        assert!(matches!(error, FactsError::Unreadable { .. }), "{kind}: {error}");
        assert!(error.to_string().contains(&name), "{error}");
    }
    // The published code, too.
    let error = check(&committed(), &absent).unwrap_err();
    assert!(matches!(error, FactsError::Unreadable { .. }), "{error}");
    let error = check(&committed(), &committed().join("code.json")).unwrap_err();
    assert!(error.to_string().contains("deployedBytecode"), "{error}");
}

/// A reading of a feed whose newest round is so old, with what is recorded as its heartbeat.
fn is_stale(age_s: u64, heartbeat_s: u32) -> bool {
    let (now, feed) = (1_714_107_371, Address([5; 20]));
    let round = RoundData { feed, round: 16_071, updated_at: now - age_s, heartbeat_s };
    let reading = OracleReading {
        role: OracleRole::TokenUsd(0),
        answer: U256::from(313_930_000_000_u64),
        decimals: 8,
        source: OracleSource::Chainlink(round),
    };
    reading.is_stale(now)
}

#[test]
fn healthy_feeds_are_not_stale_with_the_default_grace_period() {
    // The heartbeat of ETH/USD, and what is recorded as such where `heartbeat_grace_s` is not configured.
    let (published, recorded) = (3_600, 3_600 + 120);
    let feeds = Facts::from_folder(&committed()).unwrap().feeds;
    let of_ether = feeds.iter().filter(|reading| reading.name.as_deref() == Some("eth-usd"));
    let ages: Vec<u64> = of_ether.map(|reading| reading.age).collect();
    assert_eq!(ages, [798, 288, 48, 744]);
    assert!(!ages.iter().any(|age| is_stale(*age, published)));
    // Two blocks of thirteen had such rounds of the same feed: the heartbeat says when a round starts.
    for age in [3_612, 3_624] {
        assert!(is_stale(age, published) && !is_stale(age, recorded), "{age}");
    }
    assert!(!is_stale(3_720, recorded) && is_stale(3_721, recorded));
}
