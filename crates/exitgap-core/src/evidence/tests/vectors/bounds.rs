//! Evidence files whose documents are at the bounds of the format page, and files that exceed them.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::{Vector, future};
use crate::evidence::tests::*;

/// A change to a file, applied before its hashes, proofs and signatures are computed.
type Edit = (&'static str, &'static dyn Fn(&mut Value));

/// Changes after which a file stays valid.
const WITHIN: [Edit; 8] = [
    ("block_600_s_before_the_slot", &|file| timestamp(file, slot(2).unix_s() - 600)),
    ("block_at_the_slots_instant", &|file| timestamp(file, slot(2).unix_s())),
    ("chain_of_the_largest_id", &|file| {
        file["snapshot"]["chain"]["caip2"] = json!(format!("eip155:{}", u64::MAX));
    }),
    ("commitments_of_16_names", &|file| file["leaf"]["commits"] = commitments(16)),
    ("facts_of_32_names", &|file| file["snapshot"]["facts"] = facts(32)),
    ("symbol_of_32_characters", &|file| {
        file["snapshot"]["tokens"][1]["symbol"] = json!("~".repeat(32));
    }),
    ("feed_at_its_bounds", &|file| feed(file, &[])),
    // The price is exactly at tick 3, where a falling price can have stopped.
    ("tick_one_below_the_price", &|file| file["state"]["tick"] = json!(2)),
];

/// Changes that make an otherwise valid file invalid.
const BEYOND: [Edit; 42] = [
    ("block_601_s_before_the_slot", &|file| timestamp(file, slot(2).unix_s() - 601)),
    ("block_after_the_slots_instant", &|file| timestamp(file, slot(2).unix_s() + 1)),
    ("chain_of_an_id_too_large", &|file| {
        file["snapshot"]["chain"]["caip2"] = json!("eip155:18446744073709551616");
    }),
    ("chain_of_an_id_with_a_zero_in_front", &|file| {
        file["snapshot"]["chain"]["caip2"] = json!("eip155:031337");
    }),
    ("commitments_of_17_names", &|file| file["leaf"]["commits"] = commitments(17)),
    ("facts_of_33_names", &|file| file["snapshot"]["facts"] = facts(33)),
    ("facts_out_of_order", &|file| {
        let mut facts = facts(2);
        facts.as_array_mut().unwrap().reverse();
        file["snapshot"]["facts"] = facts;
    }),
    ("symbol_of_33_characters", &|file| {
        file["snapshot"]["tokens"][1]["symbol"] = json!("~".repeat(33));
    }),
    ("symbol_of_no_characters", &|file| file["snapshot"]["tokens"][1]["symbol"] = json!("")),
    ("token_of_37_decimals", &|file| file["snapshot"]["tokens"][1]["decimals"] = json!(37)),
    ("tokens_of_one_address", &|file| {
        file["snapshot"]["tokens"][1] = file["snapshot"]["tokens"][0].clone();
    }),
    ("tokens_in_the_other_order", &|file| {
        file["snapshot"]["tokens"].as_array_mut().unwrap().reverse();
    }),
    ("feed_of_a_heartbeat_too_long", &|file| {
        feed(file, &[("heartbeat_s", json!(u64::from(u32::MAX) + 1))]);
    }),
    ("feed_of_a_round_too_large", &|file| {
        feed(file, &[("round", json!((1_u128 << 80).to_string()))]);
    }),
    ("feed_never_updated", &|file| feed(file, &[("updated_at", json!(0))])),
    ("feed_updated_after_the_block", &|file| {
        let timestamp = file["snapshot"]["block"]["timestamp"].as_u64().unwrap();
        feed(file, &[("updated_at", json!(timestamp + 1))]);
    }),
    ("reading_of_nothing", &|file| reading(file, "0", 0)),
    ("reading_too_large", &|file| {
        reading(file, &(10_u128.pow(36) + 1).to_string(), 36);
    }),
    ("reading_of_37_decimals", &|file| reading(file, &format!("2{}", "0".repeat(36)), 37)),
    ("readings_of_no_token", &|file| {
        file["snapshot"]["oracles"].as_array_mut().unwrap().remove(0);
    }),
    ("readings_in_the_other_order", &|file| {
        file["snapshot"]["oracles"].as_array_mut().unwrap().reverse();
    }),
    ("reading_of_a_token_that_is_not", &|file| {
        file["snapshot"]["oracles"][1]["token"] = json!(2);
    }),
    ("fixed_reading_in_a_live_snapshot", &|file| {
        file["snapshot"]["chain"]["kind"] = json!("live");
        file["result"]["status"] = json!("live");
    }),
    ("head_of_a_height_too_large", &|file| file["head"]["height"] = json!(1_u64 << 32)),
    ("head_of_more_snapshots_than_slots", &|file| file["head"]["recorded_count"] = json!(4)),
    ("head_of_no_snapshots", &|file| file["head"]["recorded_count"] = json!(0)),
    ("head_without_the_one_before", &|file| file["head"]["prev"] = Value::Null),
    ("head_of_a_long_method_version", &|file| {
        file["head"]["method_version"] = json!("1".repeat(21));
    }),
    ("depth_left_out", &|file| file["head"]["depth_usd"][0] = Value::Null),
    ("lowest_depth_left_out", &|file| {
        file["head"]["lowest_depth_7d_usd"][0] = Value::Null;
    }),
    ("lowest_depth_above_the_slots_own", &|file| {
        file["head"]["lowest_depth_7d_usd"][0] = json!("318648");
        file["result"]["lowest_depth_7d_usd"] = json!("318648");
    }),
    ("leaf_of_too_many_pools", &|file| file["leaf"]["pools"] = json!(1_u64 << 32)),
    ("result_with_a_number_for_a_text", &|file| file["result"]["days_observed"] = json!(0)),
    ("result_with_a_text_for_a_truth", &|file| file["result"]["market_open"] = json!("true")),
    ("result_with_one_field_less", &|file| {
        file["result"].as_object_mut().unwrap().remove("mid_price_usd");
    }),
    ("fee_of_everything", &|file| file["state"]["fee_pips"] = json!(1_000_000)),
    ("spacing_too_wide", &|file| file["state"]["tick_spacing"] = json!(16_384)),
    ("tick_that_is_no_multiple", &|file| file["state"]["ticks"][0][0] = json!(-601)),
    ("tick_two_below_the_price", &|file| file["state"]["tick"] = json!(1)),
    ("ticks_that_do_not_end_at_nothing", &|file| {
        file["state"]["ticks"][1][1] = json!("-8999999999");
    }),
    ("gross_liquidity_below_the_net", &|file| {
        file["state"]["ticks"][0] = json!([-600, "9000000000", "8999999999"]);
    }),
    ("net_of_nothing_without_gross", &|file| {
        file["state"]["ticks"].as_array_mut().unwrap().insert(1, json!([0, "0"]));
    }),
];

/// Files at the bounds of the format page, valid and invalid.
pub fn bounds(scene: &Scene) -> Vec<Vector> {
    let vector = |name, evidence| Vector { name, evidence, policy: trusting() };
    let edited =
        WITHIN.iter().chain(&BEYOND).map(|(name, edit)| vector(*name, future(scene, edit)));
    let mut all: Vec<Vector> = edited.collect();
    let with_note = |sign: &dyn Fn(&str) -> String| {
        let mut file: Value = serde_json::from_slice(&scene.evidence(0, 2, "1000.5")).unwrap();
        let mut proof = LogProof::from_text(file["log_proof"].as_str().unwrap()).unwrap();
        proof.checkpoint = sign(Note::parse(&proof.checkpoint).unwrap().text);
        file["log_proof"] = json!(proof.to_text());
        canonical(&file)
    };
    let extended =
        |lines: &str| with_note(&|text| signer().sign(&format!("{text}{lines}")).unwrap());
    let signed = signer().sign(&format!("{}{}\n", text_of(scene), "x")).unwrap();
    // The longest line with which the note has 64 KiB.
    let longest = (64 << 10) - signed.len() + 1;
    all.push(vector("checkpoint_with_lines_of_later_versions", extended("later 1\n 0 +/=\n")));
    all.push(vector("checkpoint_of_64_kib", extended(&format!("{}\n", "x".repeat(longest)))));
    let too_long = extended(&format!("{}\n", "x".repeat(longest + 1)));
    all.push(vector("checkpoint_above_64_kib", too_long));
    all.push(vector("checkpoint_with_an_empty_line", extended("\nlater\n")));
    let malleable = with_note(&|text| with_the_order_added(&signer().sign(text).unwrap()));
    all.push(vector("signature_with_the_groups_order_added", malleable));
    all.extend(basis().map(|(name, evidence)| vector(name, evidence)));
    all
}

/// Two files of a pool that exchanges its tokens one for one. The basis is
/// `100 × (1 − price of token 1 ÷ price of token 0)`. At the first file's prices it is the lowest that a result can
/// state. At the second file's prices it rounds to a billion percent, but the second file states the first one's
/// result.
fn basis() -> [(&'static str, Vec<u8>); 2] {
    let slot_of = |answer| {
        let mut scene = Scene { pools: scene(0, 1).pools, leaves: Vec::new() };
        for series in &mut scene.pools {
            let prices = [1_000_000_000, answer];
            extend(series, slot(0), Ok(&snapshot_priced(&series.id, pair(), slot(0), prices)));
        }
        let root = root(&scene.head_hashes(0));
        let leaf = SlotLeaf { slot: slot(0), pools: 2, root, commits: Commits::default() };
        scene.leaves.push(leaf.to_canonical().unwrap());
        scene
    };
    let (within, beyond) = (slot_of(10_000_000_999_999_994), slot_of(10_000_000_999_999_995));
    let answer = within.answer(1, 0, "0.5");
    let Ok(Answer::Result(result)) = &answer else { panic!("it is filled") };
    assert_eq!(result.basis_pct, "-999999999.999999");
    assert!(beyond.answer(1, 0, "0.5").is_err(), "the basis is out of range");
    let answer = answer.unwrap();
    [
        ("basis_just_within_range", within.stating(&answer, 1, 0, "0.5")),
        ("basis_out_of_range", beyond.stating(&answer, 1, 0, "0.5")),
    ]
}

/// Whether a file at the bounds is valid.
pub fn is_true(name: &str) -> bool {
    WITHIN.iter().any(|(within, _)| *within == name)
        || [
            "basis_just_within_range",
            "checkpoint_of_64_kib",
            "checkpoint_with_lines_of_later_versions",
        ]
        .contains(&name)
}

fn text_of(scene: &Scene) -> String {
    Note::parse(&scene.checkpoint(3)).unwrap().text.to_owned()
}

fn timestamp(file: &mut Value, unix_s: u64) {
    file["snapshot"]["block"]["timestamp"] = json!(unix_s);
}

fn commitments(many: usize) -> Value {
    let name = |number| (format!("name{number:02}"), json!(format!("0x{}", "5a".repeat(32))));
    (0..many).map(name).collect::<serde_json::Map<_, _>>().into()
}

fn facts(many: usize) -> Value {
    let fact = |number| {
        json!({
            "name": format!("fact{number:02}"), "contract": format!("0x{}", "11".repeat(20)),
            "call": "0x5a5a5a5a", "words": [],
        })
    };
    (0..many).map(fact).collect()
}

/// The second token's price from a feed whose values and age are at their maximum.
fn feed(file: &mut Value, otherwise: &[(&str, Value)]) {
    let mut feed = json!({
        "answer": "2", "decimals": 0, "role": "token_usd", "token": 1, "source": "chainlink",
        "feed": format!("0x{}", "22".repeat(20)), "heartbeat_s": u32::MAX,
        "round": ((1_u128 << 80) - 1).to_string(), "updated_at": 1,
    });
    for (field, value) in otherwise {
        feed[field] = value.clone();
    }
    file["snapshot"]["oracles"][1] = feed;
}

/// The first token's oracle reading.
fn reading(file: &mut Value, answer: &str, decimals: u8) {
    let reading = &mut file["snapshot"]["oracles"][0];
    reading["answer"] = json!(answer);
    reading["decimals"] = json!(decimals);
}

/// The note with a malleated signature: the second half is increased by the group order,
/// `2^252 + 27742317777372353535851937790883648493`, and so represents the same number.
fn with_the_order_added(note: &str) -> String {
    const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 1 << 60];
    let (before, encoded) = note.trim_end().rsplit_once(' ').unwrap();
    let mut signature = Base64::decode_vec(encoded).unwrap();
    let mut carry = 0;
    for (limb, order) in signature[36..].chunks_exact_mut(8).zip(ORDER) {
        let sum =
            u128::from(u64::from_le_bytes(limb.try_into().unwrap())) + u128::from(order) + carry;
        limb.copy_from_slice(&u64::try_from(sum & u128::from(u64::MAX)).unwrap().to_le_bytes());
        carry = sum >> 64;
    }
    assert_eq!(carry, 0, "it fits");
    format!("{before} {}\n", Base64::encode_string(&signature))
}
