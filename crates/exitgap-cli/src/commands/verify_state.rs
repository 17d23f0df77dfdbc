//! `exitgap verify --rpc`: checks the snapshot of an evidence file against the chain's own state.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use exitgap_api::{Problem, ProblemCode, invalid_parameter, size_asked, still_unproven};
use exitgap_chain::{Limits, ProveError, StateProver};
use exitgap_core::evidence::{Evidence, Outcome, Verdict};
use exitgap_core::pools::Direction;
use exitgap_core::proof::{
    BlockSaid, BlockSource, Layout, MAX_PROOF_BYTES, StateCheck, StateCheckName, StateClaim,
    StateProof, TickRange, check_canonical, check_claim, check_code, confirm_next, needed_ticks,
};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::VerifierKey;
use exitgap_core::units::SizeUsd;
use exitgap_store::write_output;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::verify_sources::Sources;
use crate::chain_arguments::ChainArgs;
use crate::failure::Failure;
use crate::format::printable;
use crate::source::{self, unreadable};

/// Time limit for the nodes to provide a proof.
pub(super) const DEADLINE: Duration = Duration::from_mins(2);

/// Extra ticks on both sides of those read, so that a slightly larger size is proven too.
const MARGIN_TICKS: i32 = 100;

/// The chain's checks of a file's snapshot; empty if not requested. `keys` are those that the reader trusts.
pub fn checks(
    args: &ChainArgs,
    keys: &[VerifierKey],
    evidence: &Evidence,
) -> Result<Vec<StateCheck>, Failure> {
    if !args.is_asked() {
        return Ok(Vec::new());
    }
    let unread = || unreadable("the file's snapshot cannot be read".to_owned());
    let snapshot = evidence.snapshot().ok_or_else(unread)?;
    let size = size_asked(evidence);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runtime = &runtime;
    let provers =
        args.rpc.iter().map(|url| prover(url, snapshot)).collect::<Result<Vec<_>, _>>()?;
    let provers = provers.as_slice();
    let sources = Sources { args, keys, evidence, snapshot, provers, runtime };
    let sources = args.has_sources().then(|| sources.ask()).transpose()?;
    let proof = match &args.state_proof {
        Some(path) => source::read_named("state proof", path, MAX_PROOF_BYTES)?,
        None if provers.is_empty() => {
            let detail = "state-proof: no node is given to get the state proof from";
            let hint = "give a node with --rpc, or a saved proof with --state-proof";
            return Err(invalid_parameter("state_proof", detail, hint).into());
        }
        None => request_proof(args, runtime, provers, snapshot, size)?,
    };
    let proof = StateProof::from_bytes(&proof);
    let claim = StateClaim::from_snapshot(snapshot, size);
    let mut checks = check_claim(&proof, &claim).to_vec();
    if let Some(sources) = sources {
        let child = proof.as_ref().ok().and_then(|proof| proof.child.as_ref());
        let at_least = args.at_least.map(usize::from);
        let mut confirming = sources.clone();
        // Without a saved proof, the next header came from the reader's own node.
        if let (None, Some(child)) = (&args.state_proof, child) {
            let (name, said) = ("the node".to_owned(), BlockSaid::Next(child.hash));
            confirming.push(BlockSource { name, said });
        }
        confirm_next(&mut checks[0], child, &confirming);
        checks.push(check_canonical(snapshot.observation().block(), child, &sources, at_least));
    }
    let code = proof.as_ref().ok().and_then(|proof| code_of(runtime, provers, proof));
    checks.extend(check_code(&proof, &claim, code.as_deref()));
    Ok(checks)
}

fn prover(url: &str, snapshot: &Snapshot) -> Result<StateProver, Failure> {
    let observation = snapshot.observation();
    let (pool, chain_id) = (observation.pool(), observation.chain().caip2.0);
    let plan = source::rpc::plan_of_chain(&[url.to_owned()], Some(chain_id), pool)?;
    let prover = StateProver::new(&plan, pool.chain(), Limits::for_one_answer());
    let prover = prover.map_err(|error| unreadable(error.to_string()))?;
    Ok(prover.ok_or_else(|| unreadable(format!("no node of chain {}", pool.chain())))?)
}

/// Requests a proof from the nodes, one after the other until one returns it.
fn request_proof(
    args: &ChainArgs,
    runtime: &Runtime,
    provers: &[StateProver],
    snapshot: &Snapshot,
    size: Option<(Direction, SizeUsd)>,
) -> Result<Vec<u8>, Failure> {
    let layout = args.layout.as_deref().map(layout_of).transpose()?;
    let needed = needed_ticks(snapshot, size).unwrap_or(TickRange::ALL);
    let TickRange { low, high } = TickRange::ALL;
    let range = TickRange {
        low: needed.low.saturating_sub(MARGIN_TICKS).max(low),
        high: needed.high.saturating_add(MARGIN_TICKS).min(high),
    };
    let mut failed = None;
    for prover in provers {
        let deadline = Instant::now() + DEADLINE;
        match runtime.block_on(prover.prove(snapshot, layout, range, deadline)) {
            Ok(proof) => {
                if let Some(path) = &args.keep_proof {
                    keep(path, &proof)?;
                }
                return Ok(proof);
            }
            Err(error) => failed = Some(error),
        }
    }
    let detail = failed.as_ref().map_or("no node given".to_owned(), ToString::to_string);
    let hint = match failed {
        Some(ProveError::UnknownLayout) => {
            "give the layout with --layout if the pool is of such a kind"
        }
        Some(ProveError::OtherBlock { .. }) => {
            "the chain dropped that block, or the node is on another chain; try another node with --rpc"
        }
        _ => {
            "nodes prove the state of the last 128 blocks, archive nodes that of older blocks: use an archive node, or a saved proof with --state-proof"
        }
    };
    let problem =
        Problem::new(ProblemCode::ChainUnreadable, format!("proving the state: {detail}"));
    Err(problem.hint(hint).into())
}

/// The code of the contract that holds the pool, by the first node that has code of the hash that was proven; else what another
/// handed over. Nodes without an answer leave it unknown.
fn code_of(runtime: &Runtime, provers: &[StateProver], proof: &StateProof) -> Option<Vec<u8>> {
    let mut other = None;
    for prover in provers {
        let deadline = Instant::now() + DEADLINE;
        let code = runtime.block_on(prover.code(proof.subject.address, deadline));
        match code {
            Ok(code) if proof.is_code(&code) => return Some(code),
            Ok(code) => other = other.or(Some(code)),
            Err(_) => {}
        }
    }
    other
}

fn layout_of(name: &str) -> Result<Layout, Failure> {
    let hint = "uniswap_v2, uniswap_v3, pancake_v3, slipstream or aerodrome_v2";
    let unknown = || invalid_parameter("layout", &format!("layout: {}", printable(name)), hint);
    Ok(Layout::of_code(name).ok_or_else(unknown)?)
}

/// Writes the file completely or not at all.
fn keep(path: &Path, proof: &[u8]) -> Result<(), Failure> {
    let kept = write_output(path, proof);
    kept.map_err(|error| unreadable(format!("{}: {error}", path.display())).into())
}

/// Combines a verdict with the chain's checks: a contradiction makes it invalid, an unanswered check incomplete.
pub fn together(verdict: Verdict, checks: &[StateCheck]) -> Verdict {
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    match verdict {
        Verdict::Valid | Verdict::Incomplete if any(Outcome::Fail) => Verdict::Invalid,
        Verdict::Valid if any(Outcome::NotChecked) => Verdict::Incomplete,
        verdict => verdict,
    }
}

/// Prints the checks, and what still rests on the operator alone.
pub fn print(checks: &[StateCheck]) -> Result<(), Failure> {
    if checks.is_empty() {
        return Ok(());
    }
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}Checked against the chain{bold:#}")?;
    for check in checks {
        let (colour, outcome) = match check.outcome {
            Outcome::Pass => (AnsiColor::Green, "pass"),
            Outcome::Fail => (AnsiColor::Red, "FAIL"),
            Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        let name = match check.name {
            StateCheckName::Header => "header",
            StateCheckName::PoolState => "pool_state",
            StateCheckName::OracleState => "oracle_state",
            StateCheckName::Canonical => "canonical",
            StateCheckName::Code => "code",
        };
        let (expected, found) = (printable(&check.expected), printable(&check.found));
        write!(out, "{name:<13}{style}{outcome:<13}{style:#}")?;
        if check.outcome == Outcome::Pass {
            writeln!(out, "{found}")?;
        } else {
            writeln!(out, "{}", check.code)?;
            writeln!(out, "{:<26}expected  {expected}", "")?;
            writeln!(out, "{:<26}found     {found}", "")?;
        }
    }
    let unproven = still_unproven(checks);
    writeln!(out, "\nStill taken on trust: {}.", unproven.join("; "))?;
    Ok(())
}
