//! The rows, in the order in which operations are described.

mod alerts;
mod figures;
mod questions;

use super::parameters::ALERT_IN_PATH;
use super::{Answer, COUNT, Calls, Group, Keep, Method, Operation, PriceClass, Row};

/// What changes with the next slot.
const NEWEST: Option<Keep> = Some(Keep::Seconds(5));

/// What is refused about an owner's records.
const OWNED: &[u16] = &[400, 401, 404, 503];

/// As how many requests counts what reads every snapshot of weeks: as the time that it may take.
const OF_MANY_SNAPSHOTS: u32 = 20;

const JSON: Answer = Answer::Bytes("application/json");

/// What most rows have in common: what is read, free, and changes with the next slot.
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

/// What rows of a rule of one's own also have in common.
const fn own(operation: Operation, id: &'static str, template: &'static str) -> Row {
    Row {
        group: Group::Alerts,
        parameters: &[&ALERT_IN_PATH],
        refusals: OWNED,
        keep: Some(Keep::Never),
        ..row(operation, id, template)
    }
}

/// Every row, where its operation stands in the list of operations.
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
