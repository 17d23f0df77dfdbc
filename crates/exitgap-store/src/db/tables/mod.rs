//! The tables: what is asked of them and written to them, as typed rows. Columns are as they lie in
//! the file; what they stand for, and whether they make sense, is asked where rows are read from.
//! Where there may be many, whoever asks says what is to be made of each (`make`): none is kept.

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
