//! The tables, read and written as typed rows. Columns are as stored in the file; what they mean,
//! and whether they are valid, is checked where rows are read. For queries with many rows the
//! caller passes a function (`make`) that is applied to each row, so that no rows are collected
//! here.

mod bodies;
mod counts;
mod derived;
mod entries;
mod fills;
mod issued;
mod left;
mod log;
mod notes;
mod pools;

pub use bodies::{BodyRow, NewBodyRow, NextNumbers, SealedBodyRow};
pub use counts::Counts;
pub use derived::FiguresRow;
pub use entries::{EntryRow, HeadRow};
pub use fills::{FillsRow, NewFillsRow};
pub use issued::IssuedRow;
pub use left::{BodyDay, LeftRow};
pub use log::{CosignedRow, SealedSlotRow};
pub use pools::PoolRow;

use super::arg::{Arg, Args};
use super::error::DatabaseError;
use super::row::{Columns, Row};
use super::{Db, Statement, Values, statements};
