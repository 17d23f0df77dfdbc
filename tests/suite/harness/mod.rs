//! The fault harness and the fuzz targets, each for a short while.

mod faults;
mod fuzz;
