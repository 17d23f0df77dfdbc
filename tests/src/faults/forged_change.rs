//! Changes of bytes, texts and JSON documents, drawn at random.

use serde_json::Value;

use super::tamper_tree::{Edit, Node};
use crate::devchain::Rng;

/// Tokens that have a special meaning for parsers.
const TOKENS: [&str; 14] = [
    "null",
    "true",
    "-",
    "18446744073709551616",
    "1e9",
    "\"",
    "\\u0000",
    "\n\n",
    "\r\n",
    "{",
    "[",
    ",",
    "\u{2014} ",
    "\u{feff}",
];

/// A number below a bound of this machine.
pub fn below(rng: &mut Rng, bound: usize) -> usize {
    usize::try_from(rng.below(bound.max(1) as u64)).unwrap_or_default()
}

/// One of several.
pub fn one<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[below(rng, all.len())]
}

/// Changes bytes, or puts a piece of another file into them.
pub fn change_bytes(rng: &mut Rng, file: &[u8], other: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = file.to_vec();
    let at = below(rng, bytes.len());
    let end = (at + 1 + below(rng, 16)).min(bytes.len());
    let what = match rng.below(11) {
        0..=1 if !bytes.is_empty() => {
            bytes[at] ^= 1 << rng.below(8);
            "a bit flipped"
        }
        2 if !bytes.is_empty() => {
            bytes[at] = u8::try_from(rng.below(256)).unwrap_or_default();
            "a byte set"
        }
        3 => {
            bytes.truncate(at);
            "the end cut off"
        }
        4 => {
            bytes.extend_from_slice(one(rng, &TOKENS).as_bytes());
            "something added at the end"
        }
        5 => {
            drop(bytes.drain(at..end));
            "bytes removed"
        }
        6 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
            "bytes repeated"
        }
        7 => {
            bytes.splice(at..end, one(rng, &TOKENS).bytes());
            "a token put in"
        }
        8 if !other.is_empty() => {
            let from = below(rng, other.len());
            let to = (from + 1 + below(rng, 64)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
            "a piece of another file put in"
        }
        _ => return change_digits(rng, file),
    };
    (bytes, format!("{what} at byte {at}"))
}

/// Spells a number of a text differently, or replaces it.
fn change_digits(rng: &mut Rng, file: &[u8]) -> (Vec<u8>, String) {
    let from = below(rng, file.len());
    let found = file.iter().skip(from).position(u8::is_ascii_digit).map(|at| from + at);
    let Some(start) = found else { return ([file, b" "].concat(), "a space added".to_owned()) };
    let length = file[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = String::from_utf8_lossy(&file[start..start + length]).into_owned();
    let other = change_number(rng, &digits);
    let bytes = [&file[..start], other.as_bytes(), &file[start + length..]].concat();
    (bytes, format!("{digits} became {other} at byte {start}"))
}

/// Another number, or another spelling of it.
fn change_number(rng: &mut Rng, digits: &str) -> String {
    let number = digits.parse::<u128>().ok();
    let moved = |by: i128| number.and_then(|number| number.checked_add_signed(by));
    let text = |number: Option<u128>| number.map_or("7".to_owned(), |number| number.to_string());
    match rng.below(12) {
        0..=2 => text(moved(1)),
        3..=4 => text(moved(-1)),
        5 => format!("0{digits}"),
        6 => format!("{digits}e1"),
        7 => format!("{digits}.0"),
        8 => format!("-{digits}"),
        9 => {
            "115792089237316195423570985008687907853269984665640564039457584007913129639936".into()
        }
        10 => "18446744073709551615".into(),
        _ => format!("{digits}0"),
    }
}

/// Changes lines: one removed, repeated, moved or taken from another file.
pub fn change_lines(rng: &mut Rng, file: &[u8], other: &[u8]) -> (Vec<u8>, String) {
    let mut lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    let theirs: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    let (at, to) = (below(rng, lines.len()), below(rng, lines.len()));
    let what = match rng.below(5) {
        0 if !lines.is_empty() => {
            lines.remove(at);
            "removed"
        }
        1 if !lines.is_empty() => {
            lines.insert(to, lines[at]);
            "repeated"
        }
        2 if at != to => {
            lines.swap(at, to);
            "moved"
        }
        3 if !theirs.is_empty() && !lines.is_empty() => {
            let from = if theirs.len() > at { at } else { below(rng, theirs.len()) };
            lines[at] = theirs[from];
            "taken from another file"
        }
        _ => return change_bytes(rng, file, other),
    };
    (lines.concat(), format!("line {at} {what}"))
}

/// Changes the structure of a JSON document: a field removed, doubled, moved, renamed, of another type.
pub fn change_structure(rng: &mut Rng, file: &[u8]) -> Option<(Vec<u8>, String)> {
    let mut tree = Node::of(serde_json::from_slice(file).ok()?);
    let (places, edits) = (tree.places(), Edit::all());
    let place = places.get(below(rng, places.len()))?;
    let edit = one(rng, &edits);
    if !tree.edit(place, edit) {
        return None;
    }
    let mut bytes = Vec::new();
    tree.write(&mut bytes);
    Some((bytes, format!("{edit:?} at {place:?}")))
}

/// The JSON pointers of all values in a document that have no parts.
fn pointers(value: &Value, here: &mut String, found: &mut Vec<String>) {
    let length = here.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                here.push('/');
                here.push_str(&name.replace('~', "~0").replace('/', "~1"));
                pointers(field, here, found);
                here.truncate(length);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                here.push('/');
                here.push_str(&index.to_string());
                pointers(item, here, found);
                here.truncate(length);
            }
        }
        _ => found.push(here.clone()),
    }
}

/// Changes one value of a document, or takes it from the same place of another document.
pub fn change_value(rng: &mut Rng, value: &mut Value, other: Option<&Value>) -> String {
    let mut all = Vec::new();
    pointers(value, &mut String::new(), &mut all);
    // Values at the top are few, and the most important: a random place is mostly in long lists.
    let shortest: Vec<&String> = all.iter().filter(|at| at.matches('/').count() <= 2).collect();
    let at = if rng.once_in(2) && !shortest.is_empty() {
        (*one(rng, &shortest)).clone()
    } else {
        one(rng, &all).clone()
    };
    let Some(found) = value.pointer_mut(&at) else { return "nothing".to_owned() };
    if let Some(theirs) = other.and_then(|other| other.pointer(&at))
        && theirs != found
        && rng.once_in(3)
    {
        *found = theirs.clone();
        return format!("{at} taken from another file");
    }
    let before = found.clone();
    *found = other_value(rng, &before);
    format!("{at} {before} became {found}")
}

/// Another value of the same type.
fn other_value(rng: &mut Rng, value: &Value) -> Value {
    match value {
        Value::Null => one(rng, &[0.into(), "0".into(), Value::Bool(true)]).clone(),
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or(i64::MAX);
            let moved = [
                number.wrapping_add(1),
                number.wrapping_sub(1),
                0,
                1,
                1 << 53,
                i64::MAX,
                number.wrapping_mul(10),
                number.wrapping_neg(),
                number.wrapping_add(288),
            ];
            (*one(rng, &moved)).into()
        }
        Value::String(text) => other_text(rng, text).into(),
        Value::Array(_) => Value::Array(vec![0.into()]),
        Value::Object(_) => serde_json::json!({"extra": "0x00"}),
    }
}

fn other_text(rng: &mut Rng, text: &str) -> String {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && !rng.once_in(4) {
        return change_number(rng, text);
    }
    let mut characters: Vec<char> = text.chars().collect();
    let at = below(rng, characters.len());
    match rng.below(8) {
        0 => characters.clear(),
        1 => characters.push(' '),
        2 => characters.push('\n'),
        3 => characters.insert(0, '0'),
        4 if !characters.is_empty() => drop(characters.remove(at)),
        5 if !characters.is_empty() => {
            // A letter that looks the same.
            characters[at] = if characters[at] == 'a' { '\u{430}' } else { '\u{200b}' };
        }
        _ => match characters.get_mut(at) {
            Some(digit @ ('0'..='8' | 'a'..='e' | 'A'..='Y')) => {
                *digit = char::from_u32(u32::from(*digit) + 1).unwrap_or('0');
            }
            Some(other) => *other = '0',
            None => characters.push('x'),
        },
    }
    characters.into_iter().collect()
}
