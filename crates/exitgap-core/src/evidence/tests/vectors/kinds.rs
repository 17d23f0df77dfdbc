//! Pool kinds other than pairs and concentrated liquidity, and token pairs of contracts with more than two tokens:
//! valid files of each, and changes that make them invalid.

use serde_json::{Value, json};

use super::{Vector, resealed};
use crate::evidence::tests::*;

/// A change to a file, applied before its hashes, proofs and signatures are computed.
type Edit = (&'static str, &'static dyn Fn(&mut Value));

/// A pool of some kind, with its name in these vectors.
struct Of {
    name: &'static str,
    id: PoolId,
    kind: Kind,
    /// A text of its state and its replacement.
    stale: [&'static str; 2],
    /// A field of its state, and a value that is invalid for the kind.
    beyond: (&'static str, Value),
}

fn of(
    (name, pool): (&'static str, &str),
    kind: Kind,
    stale: [&'static str; 2],
    beyond: (&'static str, Value),
) -> Of {
    Of { name, id: id(pool), kind, stale, beyond }
}

fn read(fields: &Value) -> PoolState {
    PoolState::from_canonical(&canonical(fields)).unwrap()
}

/// Tenths of the liquidity, in raw units.
fn parts<const N: usize>(liquidity: i128, tenths: [i128; N]) -> Value {
    tenths.map(|part| (liquidity * part / 10).to_string()).to_vec().into()
}

/// A number for each token, with this many zeros appended.
fn each<const N: usize>(numbers: [&str; N], zeros: usize) -> Value {
    numbers.map(|number| format!("{number}{}", "0".repeat(zeros))).to_vec().into()
}

fn ng(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stableswap", "version": "ng_7_0_0",
        "balances": parts(liquidity, [10, 9, 12]), "rates": each(["10000", "10000", "10004"], 29),
        "amp": 20_000, "a_precision": 100, "d_rule": "n_pow_n", "less_one": 1,
        "fee": 1_000_000, "admin_fee": 5_000_000_000_u64, "offpeg_fee_multiplier": 50_000_000_000_u64,
        "admin_balances": ["7", "0", "1"], "asset_types": [0, 3, 1],
    }))
}

/// Far out of balance, so that the fee first falls and then rises when the first token is sold.
fn ng_off_balance(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stableswap", "version": "ng_7_0_0",
        "balances": parts(liquidity, [3, 14]), "rates": each(["1", "1"], 33),
        "amp": 40_000, "a_precision": 100, "d_rule": "n_pow_n", "less_one": 1,
        "fee": 4_000_000, "admin_fee": 5_000_000_000_u64, "offpeg_fee_multiplier": 200_000_000_000_u64,
        "admin_balances": ["0", "0"], "asset_types": [0, 0],
    }))
}

fn plain(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stableswap", "version": "plain",
        "balances": parts(liquidity, [10, 21, 9]), "rates": each(["1", "1", "1"], 33),
        "amp": 2_000, "a_precision": 1, "d_rule": "each_n", "less_one": 1,
        "fee": 3_000_000, "admin_fee": 5_000_000_000_u64,
    }))
}

/// The oldest pools do not keep one unit back, and they write their scaled balances back.
fn oldest(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stableswap", "version": "plain",
        "balances": parts(liquidity, [10, 11]), "rates": each(["1", "1"], 33),
        "amp": 256, "a_precision": 1, "d_rule": "each_n_plus_1", "less_one": 0,
        "fee": 2_000_000, "admin_fee": 5_000_000_000_u64,
    }))
}

fn solidly(stable: bool, fee: u64, reserves: &Value) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "solidly", "stable": stable, "reserves": reserves,
        "decimals": [3, 3], "fee_numerator": fee, "fee_denominator": 10_000,
    }))
}

fn solidly_stable(liquidity: i128) -> PoolState {
    solidly(true, 5, &parts(liquidity, [10, 12]))
}

fn solidly_volatile(liquidity: i128) -> PoolState {
    solidly(false, 30, &parts(liquidity, [10, 10]))
}

fn weighted(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "weighted", "version": "v2",
        "balances": parts(liquidity, [50, 30, 20]), "scaling_factors": each(["1", "1", "1"], 15),
        "rates": each(["1", "1", "1"], 18), "swap_fee": "3000000000000000",
        "weights": each(["5", "3", "2"], 17),
    }))
}

fn weighted_v3_1(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "weighted", "version": "v3_1",
        "balances_raw": parts(liquidity, [20, 20]), "scaling_factors": each(["1", "1"], 15),
        "balances_live_scaled18": vec![format!("{}000000000000000", liquidity * 2); 2],
        "rates": each(["1", "1"], 18), "swap_fee": "2000000000000000", "weights": each(["5", "5"], 17),
    }))
}

fn weighted_v3(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "weighted", "version": "v3_2",
        "balances_raw": parts(liquidity, [40, 10]), "scaling_factors": each(["1", "1"], 15),
        "balances_live_scaled18": [
            format!("{}000000000000000", liquidity * 4), format!("{liquidity}000000000000000"),
        ],
        "rates": each(["1", "1"], 18), "swap_fee": "1000000000000000",
        "weights": each(["8", "2"], 17), "min_balances_scaled18": each(["1", "1"], 6),
    }))
}

fn stable_v2(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stable_v2", "balances": parts(liquidity, [10, 13, 8]),
        "scaling_factors": each(["1", "1", "1"], 15), "rates": each(["1000", "1001", "1000"], 15),
        "swap_fee": "400000000000000", "amp": 200_000,
    }))
}

fn stable_v3(liquidity: i128) -> PoolState {
    read(&json!({
        "v": 1, "protocol": "stable_v3", "version": "v3_3",
        "balances_raw": parts(liquidity, [10, 20]), "scaling_factors": each(["1", "1"], 15),
        "balances_live_scaled18": [
            format!("{liquidity}000000000000000"), format!("{}000000000000000", liquidity * 2),
        ],
        "rates": each(["1", "1"], 18), "swap_fee": "100000000000000", "amp": 500_000,
    }))
}

/// A pool of several identical tokens, with this `A` and `gamma`.
fn crypto(liquidity: i128, tokens: usize, amp: u64, gamma: &str) -> PoolState {
    let version = ["twocrypto_ng_2_1_0", "tricrypto_ng_2_0_0"][tokens - 2];
    let prices = vec!["1000000000000000000"; tokens - 1];
    read(&json!({
        "v": 1, "protocol": "cryptoswap", "version": version,
        "balances": vec![liquidity.to_string(); tokens], "decimals": vec![3; tokens],
        "price_scale": prices, "last_prices": prices,
        "D": format!("{}000000000000000", liquidity * tokens as i128), "A": amp,
        "gamma": gamma, "mid_fee": 26_000_000, "out_fee": 50_080_507,
        "fee_gamma": "230000000000000",
    }))
}

fn cryptoswap(liquidity: i128) -> PoolState {
    crypto(liquidity, 2, 20_000_000, "460040700143855")
}

fn cryptoswap_of_three(liquidity: i128) -> PoolState {
    crypto(liquidity, 3, 2_700_000, "10000000000000")
}

/// Parameters that no published pool has: the cubic has no single root, so the balance is found by iteration.
fn cryptoswap_by_rounds(liquidity: i128) -> PoolState {
    crypto(liquidity, 2, 34_899_714, "283477154210459072")
}

fn cryptoswap_of_three_by_rounds(liquidity: i128) -> PoolState {
    crypto(liquidity, 3, 24_476_808, "382424299207606016")
}

/// The id of a contract's pool or of a pair: `aa`, or `aa.0-1`.
fn id(pool: &str) -> PoolId {
    let (last, pair) = pool.split_at(2);
    format!("anvil:0x{}{pair}", last.repeat(20)).parse().unwrap()
}

/// The pools of each log.
fn logs() -> [[Of; 2]; 8] {
    let (all, whole) = (json!(10_000_000_000_u64), json!("1000000000000000000"));
    let multiplier = ("/offpeg_fee_multiplier", json!(100_000_000_000_000_u64));
    let too_wide = ("/balances_raw/1", json!(format!("{}0", 1_u128 << 127)));
    let weight = ("/weights/0", json!("500000000000000001"));
    let stable = ["\"stable\":true", "\"stable\":false"];
    let rate = ["\"1001000000000000000\"", "\"1002000000000000000\""];
    let (part, mid) = (["numerator\":30", "numerator\":31"], ["\"mid_fee\":26", "\"mid_fee\":27"]);
    let swap_fee = ["\"swap_fee\":\"", "\"swap_fee\":\"1"];
    let (ng_amp, plain_amp) = (["\"amp\":4", "\"amp\":5"], ["\"amp\":2", "\"amp\":3"]);
    [
        [
            of(("stableswap_ng", "aa.0-1"), ng, ["\"fee\":1", "\"fee\":2"], multiplier),
            of(
                ("stableswap_ng_1_2", "aa.1-2"),
                ng,
                ["10004", "10003"],
                ("/asset_types/2", json!(2)),
            ),
        ],
        [
            of(("stableswap_plain", "aa.1-2"), plain, plain_amp, ("/amp", json!(0))),
            of(
                ("stableswap_oldest", "bb"),
                oldest,
                ["_one\":0", "_one\":1"],
                ("/fee", all.clone()),
            ),
        ],
        [
            of(("solidly_stable", "aa"), solidly_stable, stable, ("/fee_numerator", json!(10_000))),
            of(("solidly_volatile", "bb"), solidly_volatile, part, ("/reserves/0", json!("0"))),
        ],
        [
            of(("weighted_v2", "aa.0-2"), weighted, swap_fee, weight),
            of(("weighted_v3", "bb"), weighted_v3, swap_fee, ("/swap_fee", whole)),
        ],
        [
            of(("stable_v2", "aa.0-1"), stable_v2, rate, ("/amp", json!(999))),
            of(("stable_v3", "bb"), stable_v3, ["\"v3_3\"", "\"v3_2\""], too_wide),
        ],
        [
            of(("cryptoswap", "aa"), cryptoswap, mid, ("/mid_fee", json!(50_080_508))),
            of(("stableswap_off_balance", "bb"), ng_off_balance, ng_amp, ("/fee", all)),
        ],
        [
            of(("cryptoswap_of_three", "aa.1-2"), cryptoswap_of_three, mid, ("/D", json!("0"))),
            of(("cryptoswap_by_rounds", "bb"), cryptoswap_by_rounds, mid, ("/A", json!(0))),
        ],
        [
            of(
                ("cryptoswap_of_three_by_rounds", "aa.0-2"),
                cryptoswap_of_three_by_rounds,
                mid,
                ("/version", json!("twocrypto_ng_2_1_0")),
            ),
            of(("weighted_v3_1", "bb"), weighted_v3_1, swap_fee, ("/rates/1", json!("0"))),
        ],
    ]
}

/// A log of three slots.
fn scene_with(pools: &[Of; 2]) -> Scene {
    let pools = pools.each_ref().map(|of| (of.id.clone(), of.kind));
    scene_of(3, 5_000_000_000, MissingReason::ChainLagging, &pools)
}

/// Valid changes to a contract of three tokens, for its first two tokens.
const WITHIN: [Edit; 2] = [
    ("third_token_without_a_reading", &|file| {
        file["snapshot"]["oracles"].as_array_mut().unwrap().remove(2);
    }),
    ("tokens_in_the_order_of_the_contract", &|file| {
        let tokens = &mut file["snapshot"]["tokens"];
        let first = tokens[0]["address"].take();
        tokens[0]["address"] = tokens[2]["address"].take();
        tokens[2]["address"] = first;
    }),
];

/// Invalid changes to it.
const BEYOND: [Edit; 8] = [
    ("pair_of_the_request_changed", &|file| {
        file["request"]["pool"] = json!(id("aa.1-2").to_string());
    }),
    ("pair_that_is_another", &|file| named(file, "aa.1-2")),
    ("pair_with_a_token_too_many", &|file| named(file, "aa.0-3")),
    ("pair_left_out", &|file| named(file, "aa")),
    ("token_of_a_contract_twice", &|file| {
        file["snapshot"]["tokens"][2] = file["snapshot"]["tokens"][0].clone();
    }),
    ("token_of_the_pair_without_a_reading", &|file| {
        file["snapshot"]["oracles"].as_array_mut().unwrap().remove(1);
    }),
    ("contract_of_fewer_tokens_than_its_state", &|file| {
        file["snapshot"]["tokens"].as_array_mut().unwrap().remove(2);
        file["snapshot"]["oracles"].as_array_mut().unwrap().remove(2);
    }),
    ("pair_in_the_other_order", &|file| {
        let name = format!("anvil:0x{}.1-0", "aa".repeat(20));
        file["head"]["pool"] = json!(name);
        file["request"]["pool"] = json!(name);
    }),
];

/// Changes the pool in the file to another pair of the same contract.
fn named(file: &mut Value, pool: &str) {
    let name = json!(id(pool).to_string());
    file["head"]["pool"] = name.clone();
    file["request"]["pool"] = name;
}

fn vector(name: impl Into<String>, evidence: Vec<u8>) -> Vector {
    Vector { name: name.into().leak(), evidence, policy: trusting() }
}

/// The files of one pool.
fn of_kind(scene: &Scene, pool: usize, of: &Of) -> [Vector; 5] {
    let Of { name, stale: [from, to], beyond: (place, value), .. } = of;
    let file = scene.evidence(pool, 2, "1000.5");
    let most = scene.evidence(pool, 2, "1000000000");
    let beyond = |file: &mut Value| {
        *file["state"].pointer_mut(place).unwrap() = value.clone();
    };
    let off = |file: &mut Value| {
        let out = &mut file["result"]["amount_out_raw"];
        let exact: u128 = out.as_str().unwrap().parse().unwrap();
        *out = json!((exact + 1).to_string());
    };
    [
        vector(format!("{name}_with_a_stale_hash"), changed(&file, from, to)),
        vector(format!("true_{name}"), file),
        vector(format!("true_{name}_of_a_billion"), most),
        vector(format!("{name}_out_of_bounds"), resealed(scene, pool, &beyond)),
        vector(format!("{name}_off_by_one"), resealed(scene, pool, &off)),
    ]
}

/// The files of every kind.
pub fn kinds() -> Vec<Vector> {
    let mut all = Vec::new();
    for pools in logs() {
        let scene = scene_with(&pools);
        for (pool, of) in pools.into_iter().enumerate() {
            all.extend(of_kind(&scene, pool, &of));
        }
    }
    let [ng, _, solidly, weighted, ..] = logs();
    let [ng, solidly, weighted] = [ng, solidly, weighted].map(|pools| scene_with(&pools));
    for (name, edit) in WITHIN.iter().chain(&BEYOND) {
        all.push(vector(*name, resealed(&ng, 0, *edit)));
    }
    let reversed = resealed(&weighted, 0, WITHIN[1].1);
    all.push(vector("weighted_tokens_out_of_order", reversed));
    let decimals = |file: &mut Value| file["snapshot"]["tokens"][0]["decimals"] = json!(4);
    all.push(vector("solidly_of_other_decimals", resealed(&solidly, 0, &decimals)));
    let windows = [("window_of_a_pair", 0), ("window_of_another_pair", 1)];
    for (name, pool) in windows {
        let window = Some(ng.window(pool, 3));
        let evidence = ng.evidence(0, 2, "1000.5");
        all.push(Vector { name, evidence, policy: Policy { window, ..trusting() } });
    }
    all
}

/// Whether a file is valid.
pub fn is_true(name: &str) -> bool {
    let kind = name.strip_prefix("true_").map(|name| name.trim_end_matches("_of_a_billion"));
    WITHIN.iter().any(|(within, _)| *within == name)
        || name == "window_of_a_pair"
        || kind.is_some_and(|kind| logs().iter().flatten().any(|Of { name, .. }| *name == kind))
}
