//! Heads alone: their bytes, which head can follow another, and which are refused.

use super::*;
use crate::Newer;
use crate::ids::{HeadHash, SnapshotHash};
use HeadError as E;

fn first() -> Head {
    Head {
        pool: "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
        slot: Slot::FIRST,
        height: 0,
        recorded_count: 1,
        prev: None,
        entry: HeadEntry::Recorded {
            snapshot: SnapshotHash([1; 32]),
            depth_usd: [Some(1_000), None],
        },
        lowest_depth_7d_usd: [Some(1_000), None],
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
        commits: Commits::default(),
    }
}

fn second(before: &Head) -> Head {
    Head {
        slot: before.slot.next().unwrap(),
        height: 1,
        recorded_count: 0,
        prev: Some(Head::hash_of(&before.to_canonical().unwrap())),
        entry: HeadEntry::Missing(MissingReason::ChainLagging),
        lowest_depth_7d_usd: [None, None],
        retracts: vec![Retraction::for_orphan(before.slot, BlockHash([1; 32]), BlockHash([2; 32]))],
        ..before.clone()
    }
}

#[test]
fn heads_have_these_bytes_and_follow_each_other() {
    let first = first();
    let bytes = first.to_canonical().unwrap();
    assert_eq!(
        core::str::from_utf8(&bytes).unwrap(),
        concat!(
            r#"{"depth_usd":["1000",null],"height":0,"lowest_depth_7d_usd":["1000",null],"#,
            r#""method_version":"1.0.0","pool":"anvil:0x00000000000000000000000000000000000000aa","#,
            r#""prev":null,"recorded_count":1,"slot":5957856,"#,
            r#""snapshot":"0x0101010101010101010101010101010101010101010101010101010101010101","v":1}"#
        )
    );
    assert_eq!(Head::from_canonical(&bytes), Ok(first.clone()));
    let second = second(&first);
    let hash = Head::hash_of(&bytes);
    assert_eq!(second.check_follows(&first, hash), Ok(()));
    assert_eq!(Head::from_canonical(&second.to_canonical().unwrap()), Ok(second.clone()));
    let broken = |head: Head| head.check_follows(&first, hash).unwrap_err().to_string();
    assert!(broken(Head { height: 2, ..second.clone() }).contains("height"));
    assert!(broken(Head { recorded_count: 1, ..second.clone() }).contains("recorded_count"));
    assert!(broken(Head { prev: Some(HeadHash([0; 32])), ..second.clone() }).contains("prev"));
    assert!(broken(Head { slot: Slot::LAST, ..second.clone() }).contains("slot"));
    let retired = Head { entry: HeadEntry::Retired, ..first.clone() };
    assert!(second.check_follows(&retired, hash).is_err());
}

#[test]
fn what_only_a_later_version_knows_is_kept_as_it_stands() {
    let first = first();
    let text = String::from_utf8(second(&first).to_canonical().unwrap()).unwrap();
    let code = |text: &str| text.parse().unwrap();
    let reads = |text: &str| {
        let head = Head::from_canonical(text.as_bytes()).unwrap();
        assert_eq!(head.to_canonical().unwrap(), text.as_bytes());
        head
    };
    assert_eq!(reads(&text).newer(), None);
    let tired = reads(&text.replace("chain_lagging", "tired"));
    assert_eq!(tired.newer(), Some(Newer::MissingReason(code("tired"))));
    let start = text.find("\"retracts\":[").unwrap() + 12;
    let end = start + text[start..].find("}]").unwrap() + 1;
    let because = |retraction: &str| format!("{}{retraction}{}", &text[..start], &text[end..]);
    let number = Slot::FIRST.number();
    let misread = reads(&because(&format!(r#"{{"code":"misread","slot":{number}}}"#)));
    assert_eq!((misread.newer(), misread.retracts), (None, vec![Retraction::misread(Slot::FIRST)]));
    let moon = reads(&because(&format!(r#"{{"code":"moon","phase":["full"],"slot":{number}}}"#)));
    assert_eq!(moon.newer(), Some(Newer::Retraction(code("moon"))));
    assert_eq!(moon.retracts[0].slot, Slot::FIRST);
    let document = format!("0x{}", "5a".repeat(32));
    let commits = format!(r#"{{"commits":{{"fills":"{document}"}},"#);
    let committing = reads(&text.replacen('{', &commits, 1));
    assert_eq!(committing.newer(), None);
    assert_eq!(committing.commits.get("fills").unwrap().to_string(), document);
    for (from, to) in [("fills", "Fills"), ("5a5a", "5A5A"), ("{\"fills\"", "{\"a\":1,\"fills\"")] {
        let wrong = text.replacen('{', &commits.replacen(from, to, 1), 1);
        assert!(Head::from_canonical(wrong.as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn heads_that_break_a_rule_are_refused_by_name() {
    let text = String::from_utf8(second(&first()).to_canonical().unwrap()).unwrap();
    let read = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "the change must happen");
        Head::from_canonical(changed.as_bytes()).unwrap_err()
    };
    assert_eq!(read("\"height\":1", "\"height\":0"), E::Prev { height: 0 });
    let first = String::from_utf8(first().to_canonical().unwrap()).unwrap();
    let missing_first = first
        .replace("\"depth_usd\":[\"1000\",null],", "")
        .replace(&format!("\"snapshot\":\"0x{}\"", "01".repeat(32)), "\"slotted\":1");
    let missing_first = missing_first.replace("\"slotted\":1,", "").replace(
        "\"method_version\":\"1.0.0\"",
        "\"method_version\":\"1.0.0\",\"missing\":\"chain_lagging\"",
    );
    assert!(matches!(
        Head::from_canonical(missing_first.as_bytes()).unwrap_err(),
        E::RecordedCount { height: 0, recorded_count: 1 }
    ));
    let read_first = |from: &str, to: &str| {
        Head::from_canonical(first.replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    let none = read_first("\"recorded_count\":1", "\"recorded_count\":0");
    assert!(matches!(none, E::RecordedCount { recorded_count: 0, .. }));
    let at_first = read_first(
        "\"slot\"",
        &format!(r#""retracts":[{{"code":"misread","slot":{}}}],"slot""#, Slot::FIRST.number()),
    );
    assert!(matches!(at_first, E::Retraction { .. }), "{at_first}");
    // The second head can retract the first slot, but no slot before it.
    let second = second(&head::first());
    let later = Head { slot: second.slot.next().unwrap(), ..second.clone() };
    let later = later.to_canonical().unwrap();
    assert_eq!(Head::from_canonical(&later), Err(E::Retraction { slot: second.retracts[0].slot }));
    let above = read_first("7d_usd\":[\"1000\"", "7d_usd\":[\"1001\"");
    assert_eq!(above, E::LowestDepth { token: 0 });
    assert_eq!(read_first("7d_usd\":[\"1000\"", "7d_usd\":[null"), E::LowestDepth { token: 0 });
    assert!(matches!(
        read("\"recorded_count\":0", "\"recorded_count\":3"),
        E::RecordedCount { .. }
    ));
    assert!(matches!(read("[null,null]", "[\"01\",null]"), E::Depth { .. }));
    assert!(matches!(read("[null,null]", "[\"1000000001\",null]"), E::Depth { .. }));
    assert!(matches!(read("\"slot\":5957857", "\"slot\":5957856"), E::Retraction { .. }));
    assert!(matches!(read("\"slot\":5957857", "\"slot\":5958145"), E::Retraction { .. }));
    assert!(matches!(read(&"01".repeat(32), &"02".repeat(32)), E::Retraction { .. }));
    assert_eq!(read("{\"height\"", "{\"depth_usd\":[null,null],\"height\""), E::DepthPlace);
    for version in ["", "1.0.0 ", "1.0.0\u{e9}", "123456789.123456789.1"] {
        assert_eq!(read("\"1.0.0\"", &format!("\"{version}\"")), E::MethodVersion);
    }
    assert_eq!(read("\"missing\":\"chain_lagging\",", ""), E::Entry);
    assert_eq!(
        read("{\"height\"", "{ \"height\""),
        E::Document(DocumentError::NotCanonical { at: 1 })
    );
    assert!(matches!(read("chain_lagging", "Tired"), E::Document(DocumentError::Shape(_))));
    assert!(matches!(read("\"orphaned\",", "\"misread\","), E::Document(DocumentError::Shape(_))));
    let version = Newer::Version { document: "a head", found: 2 };
    assert_eq!(read("\"v\":1", "\"v\":2").newer(), Some(version));
    assert!(matches!(read("\"slot\":5957857", "\"slot\":12"), E::Slot(_)));
}
