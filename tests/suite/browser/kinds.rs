//! The pages of pools of every other kind, in a real browser, with a store of recorded states.

use std::path::Path;
use std::process::Command;

use exitgap_tests::fixtures;
use serde_json::json;

use crate::scenes::here::{Here, With, stored};
use crate::scenes::kinds;
use crate::scenes::store::slot;

/// For each vector: the name of its kind, part of the sentence about its pricing rule, whether it has sizes, and
/// whether a smaller size may be worse.
const SHOWN: [(&str, &str, &str, bool, bool); 6] = [
    ("concentrated_v4", "Uniswap v4", "tick by tick", true, false),
    (
        "solidly_stable",
        "Aerodrome v2 stable 0.05%",
        "its iteration where the pool is stable",
        true,
        false,
    ),
    (
        "stableswap_plain",
        "Curve plain 0.03%",
        "Its view function may quote another number",
        true,
        false,
    ),
    (
        "stableswap_off_balance",
        "Curve StableSwap-NG 0.04% to 0.8%",
        "a smaller sale may lose more than a larger one",
        true,
        true,
    ),
    (
        "weighted_v2",
        "Balancer v2 weighted 0.3%",
        "the pool's own power function or iteration",
        true,
        false,
    ),
    (
        "cryptoswap",
        "Curve Twocrypto-NG 0.26% to 0.500805",
        "Depth and orders in parts are not available",
        false,
        false,
    ),
];

#[test]
fn pages_name_a_pools_kind_and_what_is_not_told_of_it() {
    let slots: Vec<_> = (0..3).map(|n| kinds::entries(slot(n))).collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let wanted = SHOWN.map(|(vector, called, rule, sized, worse)| {
        let pool = kinds::pool(vector).to_string();
        json!({ "vector": vector, "pool": pool, "called": called, "rule": rule, "sized": sized, "worse": worse })
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("node")
        .arg(root.join("tests/web/kinds.mjs"))
        .arg(format!("http://{}", here.address))
        .arg(fixtures::folder().join("npm-tools/node_modules"))
        .arg(root.join("target/screenshots"))
        .arg(json!(wanted).to_string())
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    let figures = "{\"web.axe_violations\":0,\"web.console_errors\":0}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), figures, "{complained}");
}
