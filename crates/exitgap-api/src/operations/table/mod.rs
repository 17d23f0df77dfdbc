//! The rows, in the order of the description.

mod alerts;
mod figures;
mod questions;

use super::parameters::ALERT_IN_PATH;
use super::{Answer, COUNT, Calls, Group, Keep, Method, Operation, PriceClass, Row};

/// For answers that change with the next slot.
const NEWEST: Option<Keep> = Some(Keep::Seconds(5));

/// The refusals of operations on an owner's records.
const OWNED: &[u16] = &[400, 401, 404, 503];

/// The weight of an operation that reads all snapshots of several weeks, according to the time that it can take.
const OF_MANY_SNAPSHOTS: u32 = 20;

const JSON: Answer = Answer::Bytes("application/json");

/// The defaults of a row: it reads, is free, and its answer changes with the next slot.
const fn row(operation: Operation, id: &'static str, template: &'static str) -> Row {
    Row {
        operation,
        id,
        template,
        method: Method::Get,
        group: Group::Estimates,
        title: "",
        about: "",
        parameters: &[],
        answer: Answer::Nothing,
        refusals: &[400, 404],
        keep: NEWEST,
        price: PriceClass::Free,
        weight: 1,
        calls: Calls::NONE,
    }
}

/// The defaults of a row about the caller's own rule.
const fn own(operation: Operation, id: &'static str, template: &'static str) -> Row {
    Row {
        group: Group::Alerts,
        parameters: &[&ALERT_IN_PATH],
        refusals: OWNED,
        keep: Some(Keep::Never),
        ..row(operation, id, template)
    }
}

/// All rows, each at the index of its operation.
pub(super) static ROWS: [Row; COUNT] = {
    let parts: [&[Row]; 3] = [&questions::ROWS, &figures::ROWS, &alerts::ROWS];
    let mut rows = [questions::ROWS[0]; COUNT];
    let (mut part, mut index) = (0, 0);
    while part < parts.len() {
        let mut place = 0;
        while place < parts[part].len() {
            rows[index] = parts[part][place];
            (place, index) = (place + 1, index + 1);
        }
        part += 1;
    }
    assert!(index == COUNT, "a row for every operation");
    rows
};
