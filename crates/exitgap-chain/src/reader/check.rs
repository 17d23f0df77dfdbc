//! Checks a configuration with its nodes, one node at a time.

use core::fmt;
use std::collections::BTreeMap;

use exitgap_core::ids::{Address, BlockHash, ChainSlug};
use exitgap_core::snapshot::BlockRef;
use tokio::time::{Instant, sleep_until};

use super::ChainReader;
use super::needs::{Needs, check_needs};
use super::observe::Results;
use crate::blocks;
use crate::config::{ChainPlan, FeedPlan, OraclePlan, RpcUrl, SequencerPlan};
use crate::multicall::Multicall;
use crate::oracles::{self, FeedAnswer};
use crate::pools::PoolInfo;
use crate::prove::{ProveError, Reach, reach};
use crate::rpc::Rpc;
use crate::trial::{self, TrialPool, Verdict};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// No problem.
    Fine,
    /// Slots are recorded, but marked or at risk.
    Warning,
    /// Slots will be missing until this is fixed.
    Error,
}

/// A finding of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    /// How much it matters.
    pub severity: Severity,
    /// The subject: a node, a pool or an oracle.
    pub subject: String,
    /// The finding, with the remedy if there is a problem.
    pub message: String,
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.severity {
            Severity::Fine => "ok",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{mark}: {}: {}", self.subject, self.message)
    }
}

/// Two nodes of one chain report different first blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "chain {chain}: according to {} block 0 is {}, but according to {} it is {}; one of the nodes serves another \
     chain. Remove it from rpc_urls, or set genesis_hash in its [[chain]]",
    nodes[0], found[0], nodes[1], found[1]
)]
pub struct GenesisDisagreement {
    /// The chain.
    pub chain: ChainSlug,
    /// The nodes, by host.
    pub nodes: [RpcUrl; 2],
    /// The hash of block 0 of each.
    pub found: [BlockHash; 2],
}

pub(super) fn build_finding(
    severity: Severity,
    subject: &str,
    message: impl Into<String>,
) -> CheckFinding {
    CheckFinding { severity, subject: subject.to_owned(), message: message.into() }
}

impl ChainReader {
    /// Checks every node (chain id, genesis, head), every pool (kind, tokens, whole state) and every oracle (answer,
    /// age at the newest block).
    pub async fn check(&mut self, deadline: Instant) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        let mut heads = Vec::new();
        let mut logs = Vec::new();
        for url in self.plan.urls() {
            let subject = format!("chain {}, node {url}", self.plan.slug());
            match check_node(&self.plan, self.rpc.limits().clone(), url.clone(), deadline).await {
                Ok(CheckedNode { block, has_genesis, reach, needs }) => {
                    heads.push(block);
                    let known = if has_genesis {
                        "chain id and genesis match"
                    } else {
                        "chain id and known_block match (it does not keep block 0)"
                    };
                    let message =
                        format!("{known}; newest block {} at {}", block.number, block.timestamp);
                    findings.push(build_finding(Severity::Fine, &subject, message));
                    findings.push(reach_found(&subject, &reach));
                    for (severity, message) in needs.own {
                        findings.push(build_finding(severity, &subject, message));
                    }
                    let (severity, message) = needs.logs;
                    logs.push(build_finding(severity, &subject, message));
                }
                Err(message) => findings.push(build_finding(Severity::Error, &subject, message)),
            }
        }
        findings.extend(judge_logs(logs));
        let Some(block) = heads.first().copied() else {
            return findings;
        };
        findings.extend(self.check_pools(deadline).await);
        findings.extend(self.check_oracles(block, deadline).await);
        findings.extend(self.check_calendars(block.timestamp));
        findings.extend(self.check_facts(block, deadline).await);
        findings.extend(self.check_equities(deadline).await);
        findings
    }

    /// Requires that the nodes that answer agree on the chain's first block. If that block is known or configured, a
    /// node with another one is never used and only causes a warning.
    ///
    /// Nodes that do not answer, or report another chain id, are ignored. Nodes that disagree are asked again, since one of
    /// them may have answered wrongly for a moment.
    pub async fn agree_on_genesis(&self, deadline: Instant) -> Result<(), GenesisDisagreement> {
        if self.plan.urls().len() < 2 && self.plan.genesis().is_none() {
            return Ok(());
        }
        let limits = self.rpc.limits();
        let mut rounds = 1;
        loop {
            let compared = self.compare_genesis(deadline).await;
            let next = Instant::now() + limits.pause(rounds);
            if compared.is_ok() || rounds >= limits.rounds || next >= deadline {
                return compared;
            }
            sleep_until(next).await;
            rounds += 1;
        }
    }

    async fn compare_genesis(&self, deadline: Instant) -> Result<(), GenesisDisagreement> {
        let urls = self.plan.urls();
        let asked = (0..urls.len()).map(|node| self.rpc.genesis_of(node, None, deadline));
        let mut first: Option<(usize, BlockHash)> = None;
        for (node, answer) in futures_util::future::join_all(asked).await.into_iter().enumerate() {
            let url = &urls[node];
            let found = match answer {
                Ok(found) => BlockHash(found.0),
                Err(error) => {
                    tracing::warn!(chain = %self.plan.slug(), node = %url, %error, "a node cannot be used now");
                    continue;
                }
            };
            match (self.plan.genesis(), first) {
                (Some(known), _) if known != found => {
                    tracing::error!(chain = %self.plan.slug(), node = %url, %known, %found, "a node serves another chain and is ignored");
                }
                (None, Some((other, genesis))) if genesis != found => {
                    return Err(GenesisDisagreement {
                        chain: self.plan.slug().clone(),
                        nodes: [urls[other].clone(), url.clone()],
                        found: [genesis, found],
                    });
                }
                _ => first = first.or(Some((node, found))),
            }
        }
        Ok(())
    }

    async fn check_pools(&mut self, deadline: Instant) -> Vec<CheckFinding> {
        let infos = self.describe(deadline).await;
        let places: Vec<usize> = (0..infos.len()).collect();
        let (mut states, whole) = match self.latest(&places, deadline).await {
            Ok(states) => (states, None),
            Err(missing) => (Results::new(), Some(missing)),
        };
        let mut verdicts = self.try_fills(&states, deadline).await;
        let mut findings = Vec::new();
        for (place, (pool, info)) in infos.into_iter().enumerate() {
            let subject = format!("pool {pool}");
            let state = states.remove(&place).or_else(|| whole.clone().map(Err));
            let wrong = state.and_then(Result::err);
            findings.push(match (info, wrong) {
                (Err(missing), _) | (Ok(_), Some(missing)) => {
                    build_finding(Severity::Error, &subject, missing.to_string())
                }
                (Ok(info), None) => {
                    let verdict = verdicts.remove(&place);
                    judge_fill(&subject, &in_words(&info), verdict)
                }
            });
        }
        findings
    }

    /// Tries whether the contracts pay the computed fills of these states.
    async fn try_fills(&self, states: &Results, deadline: Instant) -> BTreeMap<usize, Verdict> {
        let read = states.iter().filter_map(|(place, state)| {
            let reader = &self.memory[*place].identity.as_ref()?.reader;
            Some((*place, TrialPool { reader, pool: state.as_ref().ok()? }))
        });
        let (places, pools): (Vec<usize>, Vec<_>) = read.unzip();
        let Some(block) = pools.first().map(|tried| tried.pool.block()) else {
            return BTreeMap::new();
        };
        let multicall = Multicall::new(&self.rpc, &self.plan, block, deadline);
        let verdicts = match trial::compare(&multicall, &pools).await {
            Ok(verdicts) => verdicts,
            Err(failure) => vec![Verdict::Unknown(failure.detail); pools.len()],
        };
        places.into_iter().zip(verdicts).collect()
    }

    async fn check_oracles(&self, block: BlockRef, deadline: Instant) -> Vec<CheckFinding> {
        let mut by_name: BTreeMap<&str, &OraclePlan> = BTreeMap::new();
        for oracle in self.plan.pools().iter().flat_map(|pool| &pool.oracles) {
            by_name.insert(&oracle.name, oracle);
        }
        let multicall = Multicall::new(&self.rpc, &self.plan, block, deadline);
        let mut findings = Vec::new();
        if let Some(plan) = self.plan.sequencer() {
            findings.push(check_sequencer(&multicall, plan).await);
        }
        for (name, oracle) in by_name {
            let subject = format!("oracle {name}");
            let FeedPlan::Chainlink { feed, heartbeat_s } = oracle.feed else {
                let message = "a fixed price, for preview chains only";
                findings.push(build_finding(Severity::Warning, &subject, message));
                continue;
            };
            let answer = read_feed(&multicall, feed).await;
            findings.push(match answer {
                Err(message) => build_finding(Severity::Error, &subject, message),
                Ok(answer) => judge(&subject, answer, heartbeat_s, block.timestamp),
            });
        }
        findings
    }
}

/// Whether logs are served: by one node is enough, since it is asked where another refuses.
fn judge_logs(mut of_nodes: Vec<CheckFinding>) -> Vec<CheckFinding> {
    if of_nodes.iter().any(|finding| finding.severity == Severity::Fine) {
        let refused = of_nodes.iter_mut().filter(|finding| finding.severity == Severity::Error);
        refused.for_each(|finding| finding.severity = Severity::Warning);
    }
    of_nodes
}

fn in_words(info: &PoolInfo) -> String {
    let [token0, token1] = &info.tokens;
    format!(
        "{}, token0 {} ({} decimals), token1 {} ({} decimals), sells token{}",
        info.kind,
        token0.symbol,
        token0.decimals,
        token1.symbol,
        token1.decimals,
        info.base.base_index()
    )
}

fn judge_fill(subject: &str, pool: &str, verdict: Option<Verdict>) -> CheckFinding {
    match verdict {
        Some(Verdict::Same) => {
            let message = format!("{pool}; its contract pays exactly the computed amount");
            build_finding(Severity::Fine, subject, message)
        }
        Some(Verdict::Other(detail)) => {
            build_finding(Severity::Error, subject, format!("{pool}; {detail}"))
        }
        Some(Verdict::Unknown(detail)) => {
            let message = format!("{pool}; a trial swap was not possible: {detail}");
            build_finding(Severity::Warning, subject, message)
        }
        None => build_finding(Severity::Warning, subject, format!("{pool}; no trial swap was run")),
    }
}

async fn check_sequencer(multicall: &Multicall<'_>, plan: SequencerPlan) -> CheckFinding {
    let subject = "oracle sequencer uptime";
    let answers = multicall.read_calls(&oracles::calls(plan.feed)).await;
    let reading = answers.map_err(|failure| failure.to_string()).and_then(|answers| {
        oracles::decode_sequencer(plan, &answers).map_err(|missing| missing.to_string())
    });
    match reading {
        Err(message) => build_finding(Severity::Error, subject, message),
        Ok(reading) if reading.is_stale(multicall.block().timestamp) => {
            let message =
                "the sequencer is down or was down recently; results have the flag oracle_stale";
            build_finding(Severity::Warning, subject, message)
        }
        Ok(_) => build_finding(Severity::Fine, subject, "the sequencer is up"),
    }
}

async fn read_feed(multicall: &Multicall<'_>, feed: Address) -> Result<FeedAnswer, String> {
    let answers =
        multicall.read_calls(&oracles::calls(feed)).await.map_err(|error| error.to_string())?;
    oracles::decode(feed, &answers).map_err(|missing| missing.to_string())
}

fn judge(subject: &str, answer: FeedAnswer, heartbeat_s: u32, now: u64) -> CheckFinding {
    let FeedAnswer { answer, decimals, round, updated_at } = answer;
    let Some(age_s) = now.checked_sub(updated_at).filter(|_| updated_at > 0) else {
        let message =
            format!("updated at {updated_at}, which must be a time up to block time {now}");
        return build_finding(Severity::Error, subject, message);
    };
    let message =
        format!("answers {answer} with {decimals} decimals, round {round}, {age_s} s old");
    if age_s > u64::from(heartbeat_s) {
        let message =
            format!("{message}; older than its heartbeat and grace period, {heartbeat_s} s");
        return build_finding(Severity::Warning, subject, message);
    }
    build_finding(Severity::Fine, subject, message)
}

/// The age, in seconds, of states that are drawn for whole proofs: a slot's state when the next slot is sealed.
const DRAWN_AGE_S: u64 = 360;

/// The finding about how far back a node can prove states.
fn reach_found(subject: &str, reach: &Reach) -> CheckFinding {
    let why = |error: &ProveError| error.to_string().chars().take(200).collect::<String>();
    match (reach.furthest, &reach.beyond) {
        (None, Some((_, error))) => {
            let message = format!(
                "cannot prove state, so recorded data can only be trusted on the operator's word: {}",
                why(error)
            );
            build_finding(Severity::Warning, subject, message)
        }
        (Some((back, age_s)), Some((beyond, error))) => {
            let mut message = format!(
                "proves states up to {back} blocks back ({age_s} s), but not {beyond} blocks back: {}",
                why(error)
            );
            if age_s < DRAWN_AGE_S {
                message += "; whole proofs need states six minutes old, so some or all of them will be missing";
            }
            build_finding(Severity::Fine, subject, message)
        }
        (furthest, None) => {
            let (back, age_s) = furthest.unwrap_or_default();
            let message = format!("proves states up to {back} blocks back ({age_s} s)");
            build_finding(Severity::Fine, subject, message)
        }
    }
}

/// What was found of one node by itself.
struct CheckedNode {
    /// Its newest block.
    block: BlockRef,
    /// It keeps block 0.
    has_genesis: bool,
    /// How far back it proves states.
    reach: Reach,
    /// What else it serves.
    needs: Needs,
}

/// Looks at one node by itself, its identity checked.
async fn check_node(
    plan: &ChainPlan,
    limits: crate::Limits,
    url: RpcUrl,
    deadline: Instant,
) -> Result<CheckedNode, String> {
    let addresses = plan.pools().iter().filter_map(|pool| pool.id.contract().address());
    let pools: Vec<Address> = addresses.collect();
    let rpc = Rpc::new(&plan.with_only(url), limits).map_err(|error| error.to_string())?;
    let head = blocks::head(&rpc, deadline).await.map_err(|failure| failure.to_string())?;
    let reach = reach(&rpc, plan.tag(), plan.multicall3(), head.block, deadline).await;
    let needs = check_needs(&rpc, plan, &pools, head.block, deadline).await;
    Ok(CheckedNode { block: head.block, has_genesis: rpc.knows_genesis(), reach, needs })
}

#[cfg(test)]
mod tests {
    use super::Severity::{Error, Fine, Warning};
    use super::*;

    #[test]
    fn one_node_that_serves_logs_is_enough() {
        let judged = |severities: &[Severity]| {
            let of = |severity: &Severity| build_finding(*severity, "node", "logs");
            let judged = judge_logs(severities.iter().map(of).collect());
            judged.into_iter().map(|finding| finding.severity).collect::<Vec<_>>()
        };
        assert_eq!(judged(&[Error, Fine]), [Warning, Fine]);
        assert_eq!(judged(&[Error, Error]), [Error, Error]);
        assert_eq!(judged(&[]), []);
    }
}
