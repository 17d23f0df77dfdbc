//! Figures that follow from the series and are kept beside it, because answers need them fast: of
//! every slot, of every UTC day, of where every pool stands. The recorder writes them in the slot's
//! transaction (`write.rs`), answers read them (`read.rs`, `points.rs`), and where they are damaged
//! they are made anew (`rebuild.rs`); nothing that is signed depends on them.

pub mod figures;
pub mod follow;
pub mod points;
mod read;
pub mod rebuild;
pub mod rollup;
pub mod window;
pub mod write;
