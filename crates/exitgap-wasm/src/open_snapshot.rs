//! A snapshot, parsed once and used many times.

use std::sync::Arc;

use exitgap_api::{
    Answers, Direct, ExitResult, Ladder, MaxSizeResult, Problem, ProblemCode, Provenance,
    SimulationResult, parse_gap_limit, parse_order_plan, parse_size, parse_steps,
};
use exitgap_core::U256;
use exitgap_core::exit::Exits;
use exitgap_core::ids::SnapshotHash;
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::snapshot::{Snapshot, SnapshotFile};
use exitgap_core::units::{GapLimit, SizeUsd};

/// The hash of the snapshot in a file: the SHA-256 of its bytes, which contain the SHA-256 of the state. Both hashes
/// are checked, but nothing else: snapshot and state may be of a kind that only a later version can read.
pub fn snapshot_hash(snapshot: &[u8]) -> Result<SnapshotHash, Problem> {
    let documents = file_of(snapshot)?.documents;
    let found = PoolState::hash_of(&documents.state);
    match Snapshot::state_named_in(&documents.snapshot) {
        Some(named) if named == found => Ok(documents.hash()),
        Some(named) => {
            let why = format!("it names state {named}, but the given state is {found}");
            Err(unreadable(&why).hint(PASS))
        }
        None => Err(unreadable("it does not name a state").hint(PASS)),
    }
}

const PASS: &str =
    "pass a snapshot file, as from `exitgap snapshot` or the client, or an evidence file";

/// A snapshot file, or the snapshot in an evidence file.
fn file_of(file: &[u8]) -> Result<SnapshotFile, Problem> {
    SnapshotFile::from_json(file).map_err(|error| unreadable(&error.to_string()).hint(PASS))
}

fn unreadable(why: &str) -> Problem {
    Problem::new(ProblemCode::SourceUnreadable, format!("snapshot: {why}")).field("snapshot")
}

/// A snapshot, prepared for questions in both directions.
#[derive(Debug)]
pub struct OpenSnapshot {
    snapshot: Arc<Snapshot>,
    provenance: Provenance,
    exits: Exits,
}

impl OpenSnapshot {
    /// Parses a snapshot file, or the snapshot in an evidence file.
    pub fn from_file(snapshot: &[u8]) -> Result<Self, Problem> {
        let file = file_of(snapshot)?;
        let read = file.open().map_err(|error| {
            let hint = if error.newer().is_some() { "update exitgap" } else { PASS };
            unreadable(&error.to_string()).hint(hint)
        })?;
        let provenance =
            Provenance::Direct(Direct::SnapshotFile(read.slot(), file.documents.hash()));
        Ok(Self { snapshot: Arc::new(read), provenance, exits: Exits::default() })
    }

    /// The estimate for a sale of `size_usd`.
    pub fn estimate(&self, base: &str, size_usd: &str) -> Result<ExitResult, Problem> {
        let size = parse_size(size_usd)?;
        self.answers(base)?.estimate(size)
    }

    /// Depth by gap and slippage by size; with the standard steps if none are given.
    pub fn ladder(
        &self,
        base: &str,
        gaps: &[String],
        sizes_usd: &[String],
    ) -> Result<Ladder, Problem> {
        let limits = parse_steps("gap", gaps, &GapLimit::LADDER, parse_gap_limit)?;
        let sizes = parse_steps("size_usd", sizes_usd, &SizeUsd::STANDARD, parse_size)?;
        Ok(self.answers(base)?.ladder(&limits, &sizes))
    }

    /// The largest sale whose gap is at most `gap` percent.
    pub fn max_size_for(&self, base: &str, gap: &str) -> Result<MaxSizeResult, Problem> {
        let limit = parse_gap_limit(gap)?;
        self.answers(base)?.max_size_for(limit)
    }

    /// One sale in several orders, compared with a single order.
    pub fn simulate_orders(
        &self,
        base: &str,
        size_usd: &str,
        orders: u32,
        recovery_pct: &str,
        interval_s: u32,
    ) -> Result<SimulationResult, Problem> {
        let plan = parse_order_plan(size_usd, orders, recovery_pct, interval_s)?;
        self.answers(base)?.simulate_orders(plan)
    }

    /// The index of the token that `base` names: 0 or 1.
    pub fn base_index(&self, base: &str) -> Result<u8, Problem> {
        let index = self.direction(base)?.base_index();
        Ok(u8::from(index == 1))
    }

    /// The amount that the pool pays for an amount of the token with this index. Both are raw units, 256 bits as four
    /// 64-bit words, the lowest first; the answer omits leading zero words. Passing a text would take longer than
    /// computing the answer.
    pub fn fill(&self, base_index: u8, amount_in: [u64; 4]) -> Result<Vec<u64>, Problem> {
        let direction = Direction::BOTH[usize::from(base_index == 1)];
        let exit = self.exits.get_or_prepare(self.snapshot.observation(), direction);
        let fill = exit.fill(U256::from_limbs(amount_in));
        let fill = fill.map_err(|why| Problem::from(why).field("amount_in_raw"))?;
        let limbs = fill.amount_out.as_limbs();
        let count = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |last| last + 1);
        Ok(limbs[..count].to_vec())
    }

    /// The shared parts, with the direction that sells `base`.
    pub(crate) fn sale_parts(
        &self,
        base: &str,
    ) -> Result<(Arc<Snapshot>, Exits, Direction), Problem> {
        Ok((self.snapshot.clone(), self.exits.clone(), self.direction(base)?))
    }

    fn direction(&self, base: &str) -> Result<Direction, Problem> {
        Ok(self.snapshot.observation().direction_of(base)?)
    }

    fn answers(&self, base: &str) -> Result<Answers<'_>, Problem> {
        let direction = self.direction(base)?;
        let observation = self.snapshot.observation();
        let exit = self.exits.get_or_prepare(observation, direction);
        Ok(Answers::with_exit(observation, &self.provenance, exit))
    }
}
