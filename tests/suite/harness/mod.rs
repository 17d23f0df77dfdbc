//! The fault harness and the fuzz targets, each for a short while, and the program of facts of real blocks,
//! and that of a node's.

mod faults;
mod fuzz;
mod reality;
mod reality_node;
