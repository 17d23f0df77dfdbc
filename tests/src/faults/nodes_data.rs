//! Changes of the data in an answer: one record, or one field of it, chosen at random.

use alloy_rpc_types_eth::Header;
use serde_json::{Value, json};

use crate::devchain::Rng;

/// Changes a contract's records; `false` where they have nothing to change.
pub type DataChange = fn(&mut Vec<Value>, &mut Rng) -> bool;

/// By kind and name.
pub const DATA_CHANGES: [(&str, &str, DataChange); 22] = [
    ("missing", "record_missing", record_missing),
    ("missing", "records_missing", records_missing),
    ("missing", "field_missing", |all, rng| field_missing(all, rng)),
    ("null", "field_null", |all, rng| set_field(all, rng, &Value::Null)),
    ("wrong_type", "field_number", |all, rng| set_field(all, rng, &json!(7))),
    ("wrong_type", "field_list", |all, rng| set_field(all, rng, &json!([]))),
    ("wrong_type", "field_text", |all, rng| set_field(all, rng, &json!("soon"))),
    ("wrong_length", "field_cut", |all, rng| field_cut(all, rng)),
    ("wrong_length", "field_empty", |all, rng| set_field(all, rng, &json!("0x"))),
    ("wrong_length", "field_longer", |all, rng| extend_field(all, rng, &"00".repeat(32))),
    ("wrong_length", "field_odd", |all, rng| extend_field(all, rng, "0")),
    ("duplicate", "record_twice", |all, rng| repeat_record(all, rng, 1)),
    ("duplicate", "item_twice", |all, rng| item_twice(all, rng)),
    ("reordered", "records_reversed", records_reversed),
    ("reordered", "items_reversed", |all, rng| items_reversed(all, rng)),
    ("contradictory", "field_other", |all, rng| field_other(all, rng)),
    ("contradictory", "fields_other", fields_other),
    ("contradictory", "block_removed", |all, rng| block_removed(all, rng)),
    ("contradictory", "block_other", |all, rng| block_other(all, rng)),
    ("huge", "field_huge", |all, rng| extend_field(all, rng, &"f".repeat(1 << 20))),
    ("huge", "field_most", |all, rng| field_most(all, rng)),
    ("huge", "record_many_times", |all, rng| repeat_record(all, rng, 3_000)),
];

/// The index of a record.
fn any(list: &[Value], rng: &mut Rng) -> usize {
    usize::try_from(rng.below(list.len().max(1) as u64)).unwrap_or(0)
}

fn record_missing(records: &mut Vec<Value>, rng: &mut Rng) -> bool {
    let at = any(records, rng);
    records.remove(at);
    true
}

fn records_missing(records: &mut Vec<Value>, _: &mut Rng) -> bool {
    let had_several = records.len() > 1;
    records.clear();
    had_several
}

fn repeat_record(records: &mut Vec<Value>, rng: &mut Rng, times: usize) -> bool {
    let at = any(records, rng);
    let again = vec![records[at].clone(); times];
    records.splice(at..at, again);
    true
}

fn records_reversed(records: &mut Vec<Value>, _: &mut Rng) -> bool {
    let before = records.clone();
    records.reverse();
    *records != before
}

/// The places of the values of a record that fulfil a condition, as JSON pointers.
fn places(record: &Value, is_wanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
    fn walk(value: &Value, at: &str, is_wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
        if is_wanted(value) {
            found.push(at.to_owned());
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{at}/{index}"), is_wanted, found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    walk(field, &format!("{at}/{name}"), is_wanted, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(record, "", is_wanted, &mut found);
    found
}

/// A random value that fulfils a condition, of a random record.
fn pick<'a>(
    records: &'a mut [Value],
    rng: &mut Rng,
    is_wanted: &dyn Fn(&Value) -> bool,
) -> Option<&'a mut Value> {
    let start = any(records, rng);
    let count = records.len();
    for at in (0..count).map(|step| (start + step) % count) {
        let found = places(&records[at], is_wanted);
        if !found.is_empty() {
            let chosen = usize::try_from(rng.below(found.len() as u64)).unwrap_or(0);
            return records[at].pointer_mut(&found[chosen]);
        }
    }
    None
}

fn is_text(value: &Value) -> bool {
    value.is_string()
}

/// A hexadecimal number or bytes, with at least one digit.
fn is_hex(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > 2 && text.starts_with("0x"))
}

fn set_field(records: &mut [Value], rng: &mut Rng, to: &Value) -> bool {
    pick(records, rng, &is_text).map(|field| *field = to.clone()).is_some()
}

fn field_missing(records: &mut [Value], rng: &mut Rng) -> bool {
    let has_fields =
        |value: &Value| value.as_object().is_some_and(|fields| fields.values().any(is_text));
    let Some(Value::Object(fields)) = pick(records, rng, &has_fields) else { return false };
    let names: Vec<String> =
        fields.keys().filter(|name| is_text(&fields[*name])).cloned().collect();
    let chosen = usize::try_from(rng.below(names.len() as u64)).unwrap_or(0);
    fields.remove(&names[chosen]).is_some()
}

fn edit_field(
    records: &mut [Value],
    rng: &mut Rng,
    is_wanted: &dyn Fn(&Value) -> bool,
    edit: impl FnOnce(&mut String, &mut Rng),
) -> bool {
    let Some(Value::String(text)) = pick(records, rng, is_wanted) else { return false };
    edit(text, rng);
    true
}

/// Half of the bytes are gone.
fn field_cut(records: &mut [Value], rng: &mut Rng) -> bool {
    let is_long = |value: &Value| is_hex(value) && value.as_str().is_some_and(|it| it.len() > 5);
    edit_field(records, rng, &is_long, |text, _| text.truncate(2 + (text.len() - 2) / 4 * 2))
}

fn extend_field(records: &mut [Value], rng: &mut Rng, by: &str) -> bool {
    edit_field(records, rng, &is_hex, |text, _| text.push_str(by))
}

/// A number becomes the largest of its length.
fn field_most(records: &mut [Value], rng: &mut Rng) -> bool {
    let is_less = |value: &Value| {
        is_hex(value) && value.as_str().is_some_and(|text| text[2..].chars().any(|it| it != 'f'))
    };
    edit_field(records, rng, &is_less, |text, _| {
        *text = format!("0x{}", "f".repeat(text.len() - 2));
    })
}

/// Changes the last digit of a number, or of one of its words.
fn other(text: &mut String, rng: &mut Rng) {
    const WORD: u64 = 64;
    let digits = text.len() as u64 - 2;
    let words = digits / WORD;
    let end = if words == 0 { digits } else { WORD * rng.between(1, words) };
    let at = usize::try_from(1 + end).unwrap_or(2);
    let digit = if text[at..].starts_with('1') { "2" } else { "1" };
    text.replace_range(at..=at, digit);
}

fn field_other(records: &mut [Value], rng: &mut Rng) -> bool {
    edit_field(records, rng, &is_hex, other)
}

/// A number is another one in every record that has it.
fn fields_other(records: &mut Vec<Value>, rng: &mut Rng) -> bool {
    let mut old = String::new();
    let mut new = String::new();
    let found = edit_field(records, rng, &is_hex, |text, rng| {
        old.clone_from(text);
        other(text, rng);
        new.clone_from(text);
    });
    for record in records {
        for place in places(record, &|value| value.as_str() == Some(old.as_str())) {
            if let Some(field) = record.pointer_mut(&place) {
                *field = Value::from(new.as_str());
            }
        }
    }
    found
}

fn has_items(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| *item != items[0]))
}

fn items_reversed(records: &mut [Value], rng: &mut Rng) -> bool {
    let Some(Value::Array(items)) = pick(records, rng, &has_items) else { return false };
    items.reverse();
    true
}

fn item_twice(records: &mut [Value], rng: &mut Rng) -> bool {
    let not_empty = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty());
    let Some(Value::Array(items)) = pick(records, rng, &not_empty) else { return false };
    let at = any(items, rng);
    items.insert(at, items[at].clone());
    true
}

/// A log's block was removed from the chain.
fn block_removed(records: &mut [Value], rng: &mut Rng) -> bool {
    let is_log = |value: &Value| value["removed"] == false;
    pick(records, rng, &is_log).map(|log| log["removed"] = true.into()).is_some()
}

/// A header of another block, whose hash is correct.
fn block_other(records: &mut [Value], rng: &mut Rng) -> bool {
    let is_header = |value: &Value| value["extraData"].is_string();
    let Some(block) = pick(records, rng, &is_header) else { return false };
    block["extraData"] = format!("0x{:016x}", rng.next_u64()).into();
    let Ok(header) = serde_json::from_value::<Header>(block.clone()) else { return false };
    block["hash"] = header.inner.hash_slow().to_string().into();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(number: u64) -> Value {
        json!({
            "address": "0x07", "topics": ["0xaa", "0xbb"], "data": format!("0x{number:064x}"),
            "logIndex": format!("{number:#x}"), "removed": false,
        })
    }

    #[test]
    fn every_change_of_logs_changes_them() {
        for (kind, name, change) in DATA_CHANGES {
            let before = vec![log(17), log(18), log(19)];
            for seed in 0..20 {
                let mut records = before.clone();
                let done = change(&mut records, &mut Rng::new(seed));
                assert_eq!(done, name != "block_other", "{kind} {name}");
                assert_eq!(done, records != before, "{kind} {name} {seed}");
            }
        }
    }

    #[test]
    fn a_single_number_has_no_fields_and_no_order() {
        let carried = DATA_CHANGES.map(|(_, name, change)| {
            let mut records = vec![json!("0x7a69")];
            (name, change(&mut records, &mut Rng::new(1)))
        });
        let not: Vec<_> = carried.iter().filter(|(_, done)| !done).map(|(name, _)| *name).collect();
        let expected = [
            "records_missing",
            "field_missing",
            "item_twice",
            "records_reversed",
            "items_reversed",
            "block_removed",
            "block_other",
        ];
        assert_eq!(not, expected);
    }

    #[test]
    fn another_number_is_of_the_same_length() {
        let before = format!("0x{}{}", "00".repeat(31), "01".repeat(33));
        for seed in 0..20 {
            let mut records = vec![Value::from(before.as_str())];
            assert!(field_other(&mut records, &mut Rng::new(seed)));
            let after = records[0].as_str().unwrap();
            assert_eq!(after.len(), before.len());
            let differing = after.bytes().zip(before.bytes()).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 1, "{after}");
        }
    }
}
