//! The state table against recorded series of its model, and runs over synthetic slots.

use super::*;
use crate::analytics::made_up::{observation, pair, pool, ranges, slot};
use crate::evidence::{Commits, Head, HeadEntry, Retraction};
use crate::exit::METHOD_VERSION;
use crate::ids::SnapshotHash;
use crate::pools::PoolState;
use crate::series::MissingReason;
use crate::snapshot::Snapshot;
use crate::tlog::Hash;

/// Random series, and the result for each slot from a model of the table in another language.
const STEPS: &str = include_str!("../../../../tests/vectors/alerts/steps.txt");

#[test]
fn the_table_says_what_its_model_says() {
    let (mut series, mut fired) = (0, 0);
    for line in STEPS.lines().filter(|line| !line.starts_with('#')) {
        let [terms, samples, words] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!() };
        let terms: Vec<&str> = terms.split(' ').collect();
        let number = |at: usize| terms[at].parse::<u32>().unwrap();
        let times = AlertTimes {
            for_slots: number(0),
            clear_for_slots: number(1),
            no_data_slots: number(2),
            refire_slots: number(3),
            remind_slots: 0,
        };
        let on_missing = match terms[4] {
            "hold" => OnMissing::Hold,
            "breach" => OnMissing::Breach,
            _ => OnMissing::Clear,
        };
        let mut state = AlertState::default();
        for ((n, sample), expected) in (0..).zip(samples.chars()).zip(words.split(' ')) {
            let sample = match sample {
                'B' => Sample::Breach,
                'C' => Sample::Clear,
                'T' => Sample::Between,
                _ => Sample::Nothing,
            };
            let (after, said) = step(times, on_missing, state, n, sample);
            state = after;
            let word = |event: &AlertEventType| match event {
                AlertEventType::Firing => 'F',
                AlertEventType::Resolved => 'R',
                AlertEventType::NoData => 'N',
                AlertEventType::Data => 'D',
                other => panic!("{other:?}"),
            };
            let said: String = said.iter().map(word).collect();
            fired += said.matches('F').count();
            let said = if said.is_empty() { "-".to_owned() } else { said };
            assert_eq!(said, expected, "slot {n} of {line}");
        }
        series += 1;
    }
    assert_eq!((series, fired > 500), (400, true), "{fired}");
}

fn rule(more: &str) -> AlertRule {
    let text = format!(
        "{{\"v\":1,\"alert\":\"mine\",\"pool\":\"{}\",\"base\":\"token0\",\"first_slot\":{},\"web_url\":\"https://exits.example\",{more}}}",
        pool(),
        slot(1).number()
    );
    AlertRule::from_json(text.as_bytes()).unwrap()
}

const GAP: &str = "\"kind\":\"gap_above\",\"size_usd\":\"1000\",\"pct\":\"2\"";

/// A slot's head and snapshot before sealing.
struct Made {
    head: Head,
    snapshot: Option<Snapshot>,
}

fn made(n: u32, state: Result<&PoolState, MissingReason>) -> Made {
    let snapshot = state
        .ok()
        .map(|state| Snapshot::new(slot(n), observation(slot(n), state.clone())).unwrap());
    let entry = match state {
        Ok(_) => HeadEntry::Recorded {
            snapshot: SnapshotHash([7; 32]),
            depth_usd: [Some(u64::from(n) * 100), Some(1)],
        },
        Err(reason) => HeadEntry::Missing(reason),
    };
    let head = Head {
        pool: pool(),
        slot: slot(n),
        height: n,
        recorded_count: n,
        prev: None,
        entry,
        lowest_depth_7d_usd: [Some(50), None],
        method_version: METHOD_VERSION.to_owned(),
        retracts: Vec::new(),
        commits: Commits::default(),
    };
    Made { head, snapshot }
}

/// The events of a run over these slots. The run is saved and restored after every slot.
fn told(rule: &AlertRule, slots: &[Made]) -> Vec<AlertEvent> {
    let mut run = AlertRun::new(rule.clone());
    let mut events = Vec::new();
    for made in slots {
        let checkpoint = checkpoint(&made.head);
        let sealed = SealedSlot {
            head: &made.head,
            snapshot: made.snapshot.as_ref(),
            checkpoint: &checkpoint,
        };
        events.extend(run.process_slot(sealed).unwrap());
        // A run that is restored after any slot gives the same events.
        run = AlertRun::from_kept(rule.clone(), &run.keep()).unwrap();
    }
    events
}

fn checkpoint(head: &Head) -> AlertCheckpoint {
    let size = u64::from(head.slot.number() - slot(0).number()) + 1;
    AlertCheckpoint { origin: "exits.example/1".to_owned(), size, root: Hash([3; 32]) }
}

fn words(events: &[AlertEvent]) -> Vec<(&'static str, u32)> {
    events.iter().map(|one| (one.event.code(), one.slot.number() - slot(0).number())).collect()
}

#[test]
fn a_gap_fires_is_over_and_is_the_same_bytes_from_whoever_evaluates_it() {
    let deep = ranges(0, 5_000_000_000_000, 90_000_000_000_000);
    let thin = pair(40_000_000, 40_000_000);
    let gone = Err(MissingReason::ChainLagging);
    let slots: Vec<Made> = [
        (1, Ok(&deep)),
        (2, Ok(&thin)),
        (3, gone),
        (4, Ok(&thin)),
        (5, Ok(&deep)),
        (6, Ok(&deep)),
        (7, Ok(&deep)),
        (8, gone),
        (9, gone),
        (10, gone),
        (11, Ok(&thin)),
    ]
    .map(|(n, state)| made(n, state))
    .into();
    let events = told(&rule(GAP), &slots);
    // A missing slot between two breaches does not reset the count. Twelve slots after the alert fired it could fire
    // again.
    let expected =
        [("alert.firing", 4), ("alert.resolved", 7), ("alert.no_data", 10), ("alert.data", 11)];
    assert_eq!(words(&events), expected);
    let seqs: Vec<u32> = events.iter().map(|one| one.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    let text = |at: usize| std::str::from_utf8(&events[at].canonical).unwrap();
    for said in [
        "\"type\":\"alert.firing\"",
        "\"timestamp\":\"2026-08-22T00:20:00Z\"",
        "\"from\":\"pending\"",
        "\"to\":\"firing\"",
        "\"status\":\"preview\"",
        "\"threshold\":\"2\"",
        "\"clear_pct\":\"1.8\"",
        "\"slot\":5957860,\"value\":\"92.594243",
        "https://exits.example/api/v1/exit/anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?base=token0&slot=5957858&size_usd=1000&method_version=1.0.0",
        "\"checkpoint\":{\"origin\":\"exits.example/1\",\"root\":\"AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=\",\"size\":5}",
    ] {
        assert!(text(0).contains(said), "{said}: {}", text(0));
    }
    assert!(text(2).contains("\"value\":\"chain_lagging\""), "{}", text(2));
    assert!(events.iter().all(|one| one.canonical.len() < 8 << 10));
    assert!(events[0].id.starts_with("evt_") && events[0].id.len() == 56, "{}", events[0].id);
    let ids: std::collections::BTreeSet<&String> = events.iter().map(|one| &one.id).collect();
    assert_eq!(ids.len(), 4);
    // The events of another rule have other ids.
    assert_ne!(told(&rule(&format!("{GAP},\"refire_slots\":1")), &slots)[0].id, events[0].id);
}

#[test]
fn what_is_not_filled_is_worse_than_any_gap_and_each_kind_reads_what_it_says() {
    let thin = pair(40_000_000, 40_000_000);
    let reading = |more: &str, made: &Made| {
        AlertReading::from_head(&rule(more), &made.head, made.snapshot.as_ref())
    };
    let dust = "\"kind\":\"gap_above\",\"size_usd\":\"0.01\",\"pct\":\"99\"";
    let at = made(3, Ok(&pair(2_000_000, 40)));
    assert_eq!(reading(dust, &at).sample, Sample::Breach, "{:?}", reading(dust, &at));
    assert_eq!(reading(dust, &at).value, "rounds_to_no_output");
    let depth = |usd: &str| format!("\"kind\":\"depth_below\",\"usd\":\"{usd}\"");
    let third = made(3, Ok(&thin));
    for (usd, sample) in [
        ("300.000001", Sample::Breach),
        ("300", Sample::Between),
        ("272.8", Sample::Between),
        ("272.727272", Sample::Clear),
    ] {
        let told = reading(&depth(usd), &third);
        assert_eq!((told.sample, told.value.as_str()), (sample, "300"), "{usd}");
    }
    let at_one = format!("{},\"at_pct\":\"1\"", depth("1000000"));
    assert_eq!(reading(&at_one, &third).sample, Sample::Breach);
    let lowest = "\"kind\":\"lowest_depth_below\",\"usd\":\"51\"";
    assert_eq!(
        reading(lowest, &third),
        AlertReading { sample: Sample::Breach, value: "50".into() }
    );
    for (kind, value) in [("oracle_stale", "false"), ("market_closed", "false")] {
        let told = reading(&format!("\"kind\":\"{kind}\""), &third);
        assert_eq!((told.sample, told.value.as_str()), (Sample::Clear, value), "{kind}");
    }
    let missing = made(3, Err(MissingReason::ChainLagging));
    assert_eq!(reading(&depth("1"), &missing).sample, Sample::Nothing);
    let any = "\"kind\":\"missing\"";
    assert_eq!(reading(any, &missing).sample, Sample::Breach);
    assert_eq!(reading(any, &third).sample, Sample::Clear);
    let other = "\"kind\":\"missing\",\"reasons\":[\"rpc_unavailable\"]";
    assert_eq!(reading(other, &missing).sample, Sample::Between);
    let gap = format!("{GAP},\"clear_pct\":\"-1\"");
    assert_eq!(reading(&gap, &made(3, Ok(&ranges(0, 1 << 50, 0)))).sample, Sample::Between);
}

#[test]
fn a_slot_taken_back_is_said_and_a_pool_that_retires_ends_it() {
    let thin = pair(40_000_000, 40_000_000);
    let mut slots: Vec<Made> = (1..6).map(|n| made(n, Ok(&thin))).collect();
    slots[4].head.retracts = vec![Retraction::misread(slot(2)), Retraction::misread(slot(4))];
    let mut last = made(6, Err(MissingReason::ChainLagging));
    last.head.entry = HeadEntry::Retired;
    slots.push(last);
    let rule = rule(&format!("{GAP},\"remind_slots\":2"));
    let events = told(&rule, &slots);
    let expected =
        [("alert.firing", 2), ("alert.reminder", 4), ("alert.corrected", 5), ("alert.ended", 6)];
    assert_eq!(words(&events), expected);
    let corrected = String::from_utf8(events[2].canonical.clone()).unwrap();
    assert!(corrected.contains("\"corrects_seq\":1,"), "{corrected}");
    assert!(corrected.contains("\"retracted_slot\":5957858"), "{corrected}");
    let mut run = AlertRun::new(rule);
    let take = |run: &mut AlertRun, made: &Made| {
        let checkpoint = checkpoint(&made.head);
        let snapshot = made.snapshot.as_ref();
        run.process_slot(SealedSlot { head: &made.head, snapshot, checkpoint: &checkpoint })
    };
    for made in &slots {
        take(&mut run, made).unwrap();
    }
    assert_eq!(run.next(), None);
    assert!(take(&mut run, &made(7, Ok(&thin))).is_err(), "it has ended");
    let mut run = AlertRun::new(run.rule().clone());
    let early = take(&mut run, &made(3, Ok(&thin))).unwrap_err();
    assert_eq!(early, AlertRunError::OutOfOrder { expected: slot(1), found: slot(3) });
    let mut other = made(1, Ok(&thin));
    other.head.pool = "anvil:0x00000000000000000000000000000000000000bb".parse().unwrap();
    assert!(matches!(take(&mut run, &other), Err(AlertRunError::OtherPool { .. })));
    assert!(matches!(
        AlertRun::from_kept(run.rule().clone(), b"{}"),
        Err(AlertRunError::Kept(why)) if why.contains('v')
    ));
    // A pool may begin after its rule's first slot.
    let mut first = made(3, Ok(&thin));
    first.head.height = 0;
    assert!(take(&mut run, &first).is_ok());
}

#[test]
fn a_rule_has_bounds_and_one_spelling() {
    let whole = rule(GAP);
    let canonical = whole.to_canonical();
    assert_eq!(AlertRule::from_json(&canonical).unwrap(), whole);
    assert_eq!(whole.hash(), AlertRule::from_json(&canonical).unwrap().hash());
    let text = String::from_utf8(canonical).unwrap();
    for (from, to, field, why) in [
        ("\"pct\":\"2\"", "\"pct\":\"2.0000001\"", "pct", "more than 6 decimals"),
        ("\"pct\":\"2\"", "\"pct\":\"9999999999\"", "pct", "billion"),
        (
            "\"clear_pct\":\"1.8\"",
            "\"clear_pct\":\"2.1\"",
            "clear_pct",
            "would clear before it fires",
        ),
        ("\"size_usd\":\"1000\"", "\"size_usd\":\"0\"", "size_usd", "0.01"),
        ("\"size_usd\":\"1000\",", "", "size_usd", "missing"),
        (
            "\"size_usd\":\"1000\"",
            "\"size_usd\":\"1000\",\"usd\":\"1\"",
            "usd",
            "gap_above does not use this field",
        ),
        ("\"for_slots\":2", "\"for_slots\":0", "for_slots", "1 to 288"),
        ("\"clear_for_slots\":3", "\"clear_for_slots\":289", "clear_for_slots", "1 to 288"),
        ("\"refire_slots\":12", "\"refire_slots\":2017", "refire_slots", "0 to 2016"),
        ("\"on_missing\":\"hold\"", "\"on_missing\":\"held\"", "rule", "unknown variant"),
        ("gap_above", "gap_over", "kind", "expected gap_above"),
        ("https://exits.example", "ftp://exits.example", "web_url", "such as https"),
        ("https://exits.example", "https://exits.example/", "web_url", "slash"),
        ("\"alert\":\"mine\"", "\"alert\":\"Mine\"", "rule", "code"),
        ("\"v\":1", "\"v\":2", "v", "reads only 1"),
        ("\"v\":1", "\"v\":1,\"more\":1", "rule", "unknown field"),
        ("\"base\":\"token0\"", "\"base\":\"token2\"", "rule", "base"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = AlertRule::from_json(changed.as_bytes()).unwrap_err();
        assert_eq!(error.field, field, "{changed}: {error}");
        assert!(error.why.contains(why), "{why}: {error}");
    }
    let long = format!("{text}{}", " ".repeat(MAX_RULE_BYTES));
    assert!(AlertRule::from_json(long.as_bytes()).unwrap_err().why.contains("4096"));
    // With a negative threshold, the value at which the alert clears is below it as well.
    let negative = rule("\"kind\":\"gap_above\",\"size_usd\":\"1\",\"pct\":\"-1\"");
    assert!(String::from_utf8(negative.to_canonical()).unwrap().contains("\"clear_pct\":\"-1.1\""));
}
