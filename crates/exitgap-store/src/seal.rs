//! Sealing a slot within its transaction: heads, the slot's leaf, the log's tree and its
//! signed checkpoint.

use exitgap_core::evidence::{
    Checkpoint, Depths, Hash, Head, LOWEST_DEPTH_SLOTS, Origin, SignerKey, SlotLeaf, VerifierKey,
    root,
};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::series::Slot;
use rusqlite::{Connection, OptionalExtension, named_params};

use crate::error::{Doing, StoreError};
use crate::merkle::Nodes;
use crate::model::{Entry, Outcome};
use crate::sealed::{HeadRow, LogIdentity};
use crate::sql;

/// The log a writer seals into, and the key that signs it, under the log's origin.
#[derive(Debug, Clone)]
pub struct Sealer {
    pub origin: Origin,
    signer: SignerKey,
}

/// A pool that gets a head.
pub struct Sealing<'a> {
    pub pool_no: i64,
    pub pool: &'a PoolId,
    pub first_slot: Slot,
    /// Its newest row and the hash of that head; `None` before its first.
    pub before: Option<(HeadRow, HeadHash)>,
}

/// A slot's heads so far: the leaf hashes of their bytes, in the order of pool ids.
#[derive(Debug, Default)]
pub struct SlotHeads {
    hashes: Vec<Hash>,
}

impl Sealer {
    /// The log that `key` signs from `first_slot` on.
    pub fn new(key: &SignerKey, first_slot: Slot) -> Result<Self, StoreError> {
        let origin = Origin::new(key.verifier().name(), first_slot).map_err(StoreError::LogName)?;
        let signer =
            key.named(&origin.to_string()).map_err(|error| StoreError::LogName(error.into()))?;
        Ok(Self { origin, signer })
    }

    /// Requires that this is the store's log.
    pub fn check_is(&self, log: &LogIdentity) -> Result<(), StoreError> {
        let (expected, found) = (log.verifier.to_string(), self.signer.verifier().to_string());
        if expected == found { Ok(()) } else { Err(StoreError::WrongKey { expected, found }) }
    }

    /// Writes down the log's name and key, before its first slot.
    pub fn begin(&self, connection: &Connection) -> Result<(), StoreError> {
        let doing = "naming the log";
        let parameters = named_params! {
            ":verifier_key": self.signer.verifier().to_string(),
            ":first_slot": self.origin.first_slot().number(),
        };
        connection.execute(sql::INSERT_LOG, parameters).doing(doing).map(|_| ())
    }

    /// The key that checkpoints are signed with.
    pub fn verifier(&self) -> VerifierKey {
        self.signer.verifier()
    }

    /// Seals the slot: its leaf, the nodes it completes, and the first checkpoint over it,
    /// which is returned.
    pub fn seal(
        &self,
        connection: &Connection,
        slot: Slot,
        heads: &SlotHeads,
    ) -> Result<String, StoreError> {
        let failed = |reason: String| StoreError::Seal { slot, reason };
        let pools = u32::try_from(heads.hashes.len()).unwrap_or(u32::MAX);
        let leaf = SlotLeaf { slot, pools, root: root(&heads.hashes) };
        let canonical = leaf.to_canonical().map_err(|error| failed(error.to_string()))?;
        let index = self.origin.index_of(slot).unwrap_or_default();
        let nodes = Nodes(connection);
        nodes.append(index, SlotLeaf::leaf_of(&canonical))?;
        let checkpoint = Checkpoint {
            origin: self.origin.clone(),
            size: index + 1,
            root: nodes.root(index + 1)?,
            extensions: Vec::new(),
        };
        let note =
            self.signer.sign(&checkpoint.to_text()).map_err(|error| failed(error.to_string()))?;
        let doing = "sealing a slot";
        let mut statement = connection.prepare_cached(sql::INSERT_SEALED_SLOT).doing(doing)?;
        let parameters = named_params! {
            ":slot": slot.number(),
            ":pools": pools,
            ":heads_root": leaf.root.0,
            ":checkpoint": note,
        };
        statement.execute(parameters).doing(doing)?;
        Ok(note)
    }
}

impl SlotHeads {
    /// Writes the pool's entry and head for `slot`, and returns them for the next to follow.
    /// Pools come in the order of their ids.
    pub fn add(
        &mut self,
        connection: &Connection,
        sealing: &Sealing,
        slot: Slot,
        outcome: Outcome,
        depth_usd: Depths,
    ) -> Result<(HeadRow, HeadHash), StoreError> {
        let recorded = matches!(outcome, Outcome::Recorded(_));
        let before = sealing.before.as_ref().map(|(row, _)| row);
        let (count, run) =
            before.map_or((0, 0), |row| (row.entry.recorded_count, row.entry.missing_run));
        let row = HeadRow {
            entry: Entry {
                slot,
                outcome,
                recorded_count: count + u32::from(recorded),
                missing_run: if recorded { 0 } else { run + 1 },
            },
            depth_usd,
            lowest: lowest(connection, sealing, slot, depth_usd)?,
            method_version: METHOD_VERSION.to_owned(),
        };
        let prev = sealing.before.as_ref().map(|(_, hash)| *hash);
        let head = row.head(sealing.pool, sealing.first_slot, prev);
        let canonical = head
            .to_canonical()
            .map_err(|error| StoreError::Seal { slot, reason: error.to_string() })?;
        let hash = Head::hash_of(&canonical);
        insert_entry(connection, sealing.pool_no, &row, hash)?;
        self.hashes.push(Head::leaf_of(&canonical));
        Ok((row, hash))
    }
}

/// The lowest depths of the 2,016 slots up to and with this one. Those before it are read
/// again only if the slot that falls out of them had the lowest.
fn lowest(
    connection: &Connection,
    sealing: &Sealing,
    slot: Slot,
    depth_usd: Depths,
) -> Result<Depths, StoreError> {
    let mut lowest = sealing.before.as_ref().map_or([None; 2], |(row, _)| row.lowest);
    let leaving = slot.number().saturating_sub(LOWEST_DEPTH_SLOTS);
    if leaving >= sealing.first_slot.number() {
        let doing = "reading depths";
        let mut statement = connection.prepare_cached(sql::SELECT_DEPTHS).doing(doing)?;
        let parameters = named_params! { ":pool_no": sealing.pool_no, ":slot": leaving };
        let gone = statement.query_row(parameters, depths_row).optional().doing(doing)?;
        let gone = gone.unwrap_or_default();
        if (0..2).any(|token| gone[token].is_some() && gone[token] == lowest[token]) {
            let mut statement =
                connection.prepare_cached(sql::SELECT_LOWEST_DEPTHS).doing(doing)?;
            let parameters = named_params! {
                ":pool_no": sealing.pool_no, ":from_slot": leaving + 1, ":to_slot": slot.number(),
            };
            lowest = statement.query_row(parameters, depths_row).doing(doing)?;
        }
    }
    Ok([0, 1].map(|token| [lowest[token], depth_usd[token]].into_iter().flatten().min()))
}

fn depths_row(row: &rusqlite::Row) -> rusqlite::Result<Depths> {
    let depth =
        |column| row.get::<_, Option<i64>>(column).map(|depth| depth.map(i64::unsigned_abs));
    Ok([depth(0)?, depth(1)?])
}

fn insert_entry(
    connection: &Connection,
    pool_no: i64,
    row: &HeadRow,
    hash: HeadHash,
) -> Result<(), StoreError> {
    let doing = "writing an entry";
    let (snapshot, reason) = match row.entry.outcome {
        Outcome::Recorded(snapshot) => (Some(snapshot.0), None),
        Outcome::Missing(reason) => (None, Some(reason.code())),
    };
    // Depths are at most 1,000,000,000: they fit.
    let [depth, lowest] =
        [row.depth_usd, row.lowest].map(|depths| depths.map(|depth| depth.map(u64::cast_signed)));
    let mut statement = connection.prepare_cached(sql::INSERT_ENTRY).doing(doing)?;
    let parameters = named_params! {
        ":pool_no": pool_no,
        ":slot": row.entry.slot.number(),
        ":snapshot_sha256": snapshot,
        ":missing_reason": reason,
        ":recorded_count": row.entry.recorded_count,
        ":missing_run_slots": row.entry.missing_run,
        ":depth0_usd": depth[0],
        ":depth1_usd": depth[1],
        ":lowest0_7d_usd": lowest[0],
        ":lowest1_7d_usd": lowest[1],
        ":method_version": row.method_version,
        ":head_sha256": hash.0,
    };
    statement.execute(parameters).doing(doing).map(|_| ())
}
