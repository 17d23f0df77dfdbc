//! The fault harness and the fuzz targets, each for a short while; and real blocks: the programs that judge them, a node
//! that replays them, and one on which they happen again.

mod bottle;
mod faults;
mod fuzz;
mod reality;
mod reality_node;
mod replay;
