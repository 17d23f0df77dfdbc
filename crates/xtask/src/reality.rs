//! `cargo xtask reality`: swaps in blocks of a node, judged by the program of `tests/reality`.

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::{process, workspace};

/// What `cargo xtask reality --help` prints.
pub const HELP: &str = "\
Compute the swaps of real blocks, and compare them with what the pools logged.

Usage: cargo xtask reality --rpc URL [--blocks N] [--last NUMBER|latest] [--cases FILE] [--json]

  --rpc URL      a node of any EVM chain; it is only read
  --blocks N     so many blocks (120: the states of that many are kept by nodes that are no archives)
  --last BLOCK   up to this block: a number, latest, safe or finalized (finalized)
  --cases FILE   where swaps that are wrong are written, in the format of tests/reality/facts/swaps.json (reality-wrong.json)
  --json         one flat JSON object of numbers on stdout, nothing else

Each header must have its hash and follow the one before. Logs are those of the receipts that the header has, where the node serves
receipts. A pool is known by its code: that of Uniswap v2's pairs and of Uniswap v3's pools is published. Its state is read at the
block before, and proven where the node serves proofs; its own logs lead from there to each swap. A swap is then one of:

  equal          paid what is computed, to the unit, and left the state that is computed
  exact_output   the order was for an output: selling the amount pays at least it, a unit less at most it
  took_less      a pair's caller took less than computed
  taxed          one of these, but the receiver got less than the pool paid: the token takes a fee
  refused        not computed, with the reason's name
  wrong          anything else

Swaps of contracts with other code are counted by kind. Exit code 1 if a swap is wrong, or if the node contradicts itself.";

/// The package of the program.
const PACKAGE: &str = "exitgap-reality";

/// The program.
const PROGRAM: &str = "reality-node";

/// Builds the program and runs it with these arguments.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    if !arguments.iter().any(|argument| argument == "--rpc") {
        return Err(Failure::usage("no node is given")
            .remedy("for example cargo xtask reality --rpc http://127.0.0.1:8545 --blocks 10"));
    }
    let mut build = workspace::cargo(root);
    build.args(["build", "--locked", "--quiet", "--package", PACKAGE, "--bin", PROGRAM]);
    process::run(&mut build, "cargo build")?;
    let metadata = workspace::metadata(root)?;
    let mut program = Command::new(workspace::debug_binary(&metadata, PROGRAM));
    process::run(program.args(arguments), "the comparison with real blocks")
}
