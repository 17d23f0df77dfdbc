//! The source of an answer's state: a recorder's database, a service, a chain's latest block, or a snapshot file.

pub mod api;
mod day;
mod db;
mod file;
pub mod rpc;

pub use db::{list_pools, open, pace, store_failure};
pub use file::read_limited;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use exitgap_api::{
    DepthWeek, GuardInputs, Number, Problem, ProblemCode, Provenance, PublishedExit,
    PublishedLadder, parse_pool,
};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::{Observation, SnapshotDocuments};
use exitgap_core::units::SizeUsd;

use crate::arguments::{GuardedQuestion, Question};
use crate::failure::Failure;

/// A pool's state, with its source.
pub struct FoundPool {
    /// The pool at a block.
    pub observation: Observation,
    /// Where it was read.
    pub provenance: Provenance,
    /// The direction if the question names no base; `None` if the source does not know the pool's default.
    pub default_base: Option<Direction>,
    /// The lowest depths of the seven days up to the slot, by the token sold, as far as the source
    /// reports them.
    pub lowest_depth_7d_usd: [Option<Number>; 2],
    /// Their second readings, as far as the source reports them.
    pub weeks: [DepthWeek; 2],
    /// The service's own ladder, if the source is a service.
    pub published: Option<PublishedLadder>,
    /// The canonical bytes, if it is a slot's snapshot.
    pub documents: Option<SnapshotDocuments>,
}

impl FoundPool {
    /// The direction that sells `base`: `token0`, `token1`, a symbol or an address.
    pub fn direction(&self, base: Option<&str>) -> Result<Direction, Failure> {
        let Some(base) = base else {
            return self.default_base.ok_or_else(|| {
                // Guessing another token than the service would sell would change the answer.
                let detail = "base: the source does not define a default token to sell";
                let problem = Problem::new(ProblemCode::InvalidParameter, detail).field("base");
                problem.hint("give --base: token0, token1, a symbol or an address").into()
            });
        };
        Ok(self.observation.direction_of(base).map_err(|error| Problem::from(&error))?)
    }
}

/// The time, seconds since 1970.
pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A service's published answer for a sale, if the source is a service. It must also meet the guards by this machine's
/// clock.
pub fn published_exit(
    guarded: &GuardedQuestion,
    size: SizeUsd,
) -> Result<Option<PublishedExit>, Failure> {
    let (guards, question) = (guarded.guards()?, &guarded.question);
    // The arguments rule out a node or file together with a service.
    let Some(url) = &question.source.api else { return Ok(None) };
    let (base, at) = (question.base.as_deref(), question.source.at.as_deref());
    let published = api::exit(url, &named_pool(question)?, size, base, at, guards)?;
    guards.check(&GuardInputs::from_context(&published.answer.context, now_s()))?;
    Ok(Some(published))
}

fn named_pool(question: &Question) -> Result<PoolId, Failure> {
    let Some(pool) = question.pool.as_deref() else {
        let problem = Problem::new(ProblemCode::InvalidPool, "no pool given");
        return Err(problem.field("pool").hint(POOL_HINT).into());
    };
    pool_id(pool)
}

/// Loads the state for a question from its source.
pub fn find(question: &Question) -> Result<FoundPool, Failure> {
    let source = &question.source;
    if let Some(path) = &source.snapshot {
        let pool = question.pool.as_deref().map(pool_id).transpose()?;
        return file::find(path, pool.as_ref());
    }
    let pool = named_pool(question)?;
    if let Some(folder) = &source.day {
        return day::find(folder, &pool, source.at.as_deref());
    }
    if !source.rpc.is_empty() {
        return rpc::find(source, &pool);
    }
    if let Some(url) = &source.api {
        return api::find(url, &pool, question.base.as_deref(), source.at.as_deref());
    }
    match &source.db {
        Some(path) => db::find(path, &pool, source.at.as_deref()),
        None => Err(Problem::new(ProblemCode::InvalidParameter, "no data source given")
            .hint(
                "give a recorder's database with --db, a service with --api, a closed day with --day, a node with --rpc or a file with --snapshot",
            )
            .into()),
    }
}

/// Reads a file; `what` names its purpose in errors.
pub fn read_named(what: &str, path: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    read_limited(path, most)
        .map_err(|error| unreadable(format!("reading {what} {name}: {error}")).into())
}

/// A pool's newest snapshot, from a service or else from a database.
pub fn newest(
    db: Option<&Path>,
    api: Option<&str>,
    pool: &PoolId,
    base: Option<&str>,
) -> Result<FoundPool, Failure> {
    match api {
        Some(url) => api::find(url, pool, base, None),
        None => db::find(db.unwrap_or(Path::new("")), pool, None),
    }
}

/// The canonical bytes of the snapshot that the question is about.
pub fn documents(question: &Question) -> Result<(PoolId, SnapshotDocuments), Failure> {
    let source = &question.source;
    if let (false, Some(pool)) = (source.rpc.is_empty(), question.pool.as_deref()) {
        let pool = pool_id(pool)?;
        let documents = rpc::newest_snapshot(source, &pool)?;
        return Ok((pool, documents));
    }
    let absent = || unreadable("the source does not provide the snapshot's bytes".to_owned());
    let found = find(question)?;
    let pool = found.observation.pool().clone();
    Ok((pool, found.documents.ok_or_else(absent)?))
}

const POOL_HINT: &str =
    "write a pool as <chain>:<address> in lower case; `exitgap pools --db FILE` lists all pools";

/// Parses a pool id.
pub fn pool_id(text: &str) -> Result<PoolId, Failure> {
    parse_pool(text).map_err(|problem| problem.hint(POOL_HINT).into())
}

/// The problem for a source that could not be read or is not valid.
pub fn unreadable(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::SourceUnreadable, detail)
}
