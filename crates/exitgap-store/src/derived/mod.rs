//! Figures derived from the series and stored with it, because answers need them quickly: for every
//! slot, for the seven days up to it, for every UTC day, and for the current status of every pool. The recorder writes them in
//! the slot's transaction (`writer.rs`), answers read them (`reader.rs`, `points.rs`), and damaged
//! ones are rebuilt (`rebuild.rs`). Nothing that is signed depends on them.

pub mod figures;
pub mod follow;
pub mod points;
mod reader;
pub mod rebuild;
pub mod rollup;
pub mod week;
pub mod window;
pub mod writer;
