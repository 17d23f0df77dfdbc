//! A redemption queue whose pace follows from its recorded lengths.

use std::fs;
use std::process::Command;

use exitgap_core::analytics::redemption::RedemptionTermsRead;
use exitgap_core::ids::{Address, Word};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Fact, Observation, Snapshot};
use exitgap_server::ops::TermsOfToken;
use exitgap_store::NewEntry;
use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::here::{Here, With, stored};
use crate::scenes::store::{BusyPool, slot};

const TERMS: &str = r#"{"v": 1, "kind": "in_turn", "ahead_fact": "queue", "per_day_recorded": true,
  "eligibility": "anybody", "source": "the queue's code", "read_on": "2026-08-20"}"#;

const WEEK: u32 = 7 * Slot::PER_DAY;

/// The pool's slot with a queue of this many whole tokens, or without this fact.
fn with_queue(pool: &mut BusyPool, slot: Slot, queue: Option<u64>) -> NewEntry {
    let entry = pool.recorded(slot);
    let drawn = entry.reading.unwrap();
    let drawn = drawn.observation();
    let unit = 10_u128.pow(drawn.tokens()[0].decimals.into());
    let fact = |whole: u64| {
        let mut word = [0; 32];
        word[16..].copy_from_slice(&(u128::from(whole) * unit).to_be_bytes());
        let (contract, call) = (Address([0x77; 20]), "0xd0fb84e8".to_owned());
        Fact { name: "queue".parse().unwrap(), contract, call, words: vec![Word(word)] }
    };
    let observation = Observation::new(
        drawn.pool().clone(),
        drawn.chain(),
        drawn.block(),
        drawn.tokens().clone(),
        drawn.state().clone(),
        drawn.oracles().to_vec(),
        queue.map(fact).into_iter().collect(),
    );
    let snapshot = Snapshot::new(slot, observation.unwrap()).unwrap();
    NewEntry { reading: Ok(snapshot), ..entry }
}

#[test]
fn a_queue_is_paid_as_fast_as_its_lengths_fell() {
    let mut pool = BusyPool::new(3, 2);
    let id = pool.id.clone();
    // On day d, ten times d tokens are paid in the third hour, after as many have joined.
    let mut length = 1_000;
    let slots: Vec<Vec<NewEntry>> = (0..=WEEK)
        .map(|at| {
            let (day, of_day) = (u64::from(at / Slot::PER_DAY), at % Slot::PER_DAY);
            length += if of_day == 30 { 10 * day } else { 0 };
            length -= if of_day == 36 { 10 * day } else { 0 };
            vec![with_queue(&mut pool, slot(at), Some(length))]
        })
        .collect();
    let last = slots[0][0].reading.as_ref().unwrap().observation().clone();
    let token = last.tokens()[0].address;
    let folder = stored(&slots);
    let terms = RedemptionTermsRead::from_json(TERMS.as_bytes()).unwrap();
    let redemption = vec![TermsOfToken { chain: id.chain().clone(), token, terms }];
    let here = Here::start(folder.path(), With { redemption, ..With::default() });
    here.refresh();
    let ask = |query: &str| {
        let told =
            here.get(&format!("/v1/redemption/{id}?size_usd=1000&base=token0{query}")).found();
        (told["paths"][0].clone(), told["oracle_price_usd"].as_f64().unwrap())
    };
    let (path, price) = ask("");
    assert_eq!((path.get("refusal"), &path["per_day_recorded"]), (None, &json!(true)), "{path}");
    // The paces of the seven days up to the newest slot: from 0, on the day that lost its first slot, to 60.
    let paces: Vec<f64> =
        path["per_day_usd"].as_array().unwrap().iter().map(|usd| usd.as_f64().unwrap()).collect();
    for (found, tokens) in paces.iter().zip([0.0, 30.0, 60.0]) {
        assert!((found - tokens * price).abs() < 0.01, "{paces:?} of {price}");
    }
    let ahead = 1_000.0 * price + 1_000.0;
    let seconds = |field: &str| path[field].as_f64().unwrap();
    for (field, pace) in [("t_min_s", paces[2]), ("t_middle_s", paces[1])] {
        assert!((seconds(field) - ahead / pace * 86_400.0).abs() < 2.0, "{field}: {path}");
    }
    assert_eq!(path["t_max_s"], Value::Null, "a day of which nobody was paid");
    assert_eq!(ask("").0, path, "asked again");
    // One slot earlier, seven days are still available; two slots earlier, they are not.
    let at = |back: u32| format!("&at={}", slot(WEEK - back));
    let before = ask(&at(1)).0;
    assert_eq!((before.get("refusal"), &before["t_max_s"]), (None, &Value::Null), "{before}");
    let short = ask(&at(2)).0;
    assert_eq!((&short["refusal"], &short["per_day_usd"]), (&json!("pace_unknown"), &Value::Null));

    fs::write(folder.path().join("terms.json"), TERMS).unwrap();
    let cli = |source: [&str; 2], more: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["redeem", &id.to_string(), "--base", "token0", "--size-usd", "1000"]);
        command.args(["--terms", "terms.json"]).args(source).args(more);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let url = format!("http://{}", here.address);
    let said: Value = serde_json::from_str(&cli(["--db", "series.db"], &["--json"])).unwrap();
    assert_eq!(said["paths"][0], path);
    let text = cli(["--db", "series.db"], &[]);
    assert!(
        text.contains("from the recorded queue lengths") && text.contains("to never"),
        "{text}"
    );
    // A single snapshot shows no pace, and the service does not invent one.
    assert!(
        cli(["--api", &url], &[]).contains("the queue lengths of the last seven days are missing")
    );
}

#[test]
fn a_day_without_half_of_its_lengths_has_no_pace() {
    let mut pool = BusyPool::new(3, 2);
    let id = pool.id.clone();
    // From the third day on, 145 slots contain nothing about the queue.
    let silent = 2 * Slot::PER_DAY..2 * Slot::PER_DAY + 145;
    let slots: Vec<Vec<NewEntry>> = (0..WEEK)
        .map(|at| vec![with_queue(&mut pool, slot(at), (!silent.contains(&at)).then_some(9))])
        .collect();
    let token = slots[0][0].reading.as_ref().unwrap().observation().tokens()[0].address;
    let folder = stored(&slots);
    let terms = RedemptionTermsRead::from_json(TERMS.as_bytes()).unwrap();
    let redemption = vec![TermsOfToken { chain: id.chain().clone(), token, terms }];
    let here = Here::start(folder.path(), With { redemption, ..With::default() });
    here.refresh();
    let told = here.get(&format!("/v1/redemption/{id}?size_usd=1000&base=token0")).found();
    assert_eq!(told["paths"][0]["refusal"], "pace_unknown", "{told}");
}
