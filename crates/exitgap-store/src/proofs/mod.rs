//! Stored state proofs: one `SQLite` file next to the series.
//!
//! **In scope**: storing a proof as its nodes, each node once per chain and day, because few nodes
//! are new from slot to slot; returning it byte for byte; thinning old proofs, except those stored
//! permanently. **Out of scope**, with the code responsible: whether a proof is valid
//! (`exitgap-core::proof`, called by anyone who stores or reads a proof). Losing the file loses no
//! record: a proof certifies itself, and any archive node can create it again.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_core::ids::Contract;
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{MAX_PROOF_BYTES, Reach, StateProof};
use exitgap_core::series::Slot;
use sha2::{Digest, Sha256};

use crate::db::DatabaseError;
use crate::db::proofs::{ProofKey, ProofsDb, Rows};
use crate::db::sidecar::FileKind;
use crate::derived::rollup::day_of;

#[cfg(test)]
mod tests;

/// The number of days for which all proofs are kept. After that, one per hour is kept.
const WHOLE_DAYS: i64 = 7;
/// The number of days for which one proof per hour is kept. After that, one per day is kept.
const HOURLY_DAYS: i64 = 90;
/// The number of slots in an hour.
const HOUR: u32 = Slot::PER_DAY / 24;

/// zstd's compression level for a line and the numbers of nodes.
const EFFORT: i32 = 3;

/// The maximum size of a decompressed body: a line, and 8 bytes for each node of the largest file.
const MAX_BODY_BYTES: usize = MAX_PROOF_BYTES;

/// Why proofs cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ProofsError {
    /// The file is something else, or has another version.
    #[error(
        "{path} is not a state-proof database that this version can read: application id {found:#010x}, version \
         {version}"
    )]
    NotProofs {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
        /// Its version.
        version: i32,
    },
    /// The database refused.
    #[error("state proofs: {0}")]
    Database(#[from] DatabaseError),
    /// A row has an impossible value.
    #[error("state proofs: {name} is damaged")]
    Damaged {
        /// The proof of the row.
        name: Box<ProofName>,
    },
    /// A row has an invalid contract or slot.
    #[error(
        "state proofs: a stored proof has the contract {contract:?} and slot {slot}, which are not valid"
    )]
    Row {
        /// Its contract.
        contract: String,
        /// Its slot.
        slot: i64,
    },
    /// The bytes are not a proof.
    #[error("the given file is not a state proof")]
    NoProof,
    /// The compressor refused.
    #[error("state proofs: {0}")]
    Packing(#[from] io::Error),
}

/// What thinning removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThinReport {
    /// Proofs.
    pub proofs: u64,
    /// Nodes that no proof uses any more.
    pub nodes: u64,
}

/// The amount of stored data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptProofs {
    /// Proofs.
    pub proofs: u64,
    /// Bytes of nodes and bodies.
    pub bytes: u64,
}

/// The stored proofs of one machine.
#[derive(Debug)]
pub struct Proofs(Mutex<ProofsDb>);

type Result<T> = std::result::Result<T, ProofsError>;

impl Proofs {
    /// Opens the file and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        match ProofsDb::open(path)? {
            Ok(db) => Ok(Self(Mutex::new(db))),
            Err(FileKind { application_id, version }) => Err(ProofsError::NotProofs {
                path: path.to_owned(),
                found: application_id,
                version,
            }),
        }
    }

    /// Locks the database. Ignores a panic of another thread, because its transaction was rolled back.
    fn db(&self) -> MutexGuard<'_, ProofsDb> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the proofs of a slot's figures, all or none, and returns how many are new.
    pub fn keep(&self, slot: Slot, proofs: &[(Contract, Vec<u8>)]) -> Result<usize> {
        self.db().write_transaction(|rows| {
            let mut new = 0;
            for (contract, file) in proofs {
                let name = ProofName { contract: contract.clone(), slot, reach: Reach::Figures };
                new += usize::from(put(rows, &name, file)?);
            }
            Ok(new)
        })
    }

    /// Stores a proof permanently. An existing proof of this name stays unchanged.
    pub fn keep_for_ever(&self, name: &ProofName, file: &[u8]) -> Result<()> {
        self.db().write_transaction(|rows| {
            put(rows, name, file)?;
            rows.mark_forever(&key(name))?;
            Ok(())
        })
    }

    /// Makes the stored proofs among these permanent and returns how many were not permanent before.
    pub fn let_stay<'a>(&self, names: impl IntoIterator<Item = &'a ProofName>) -> Result<usize> {
        self.db().write_transaction(|rows| {
            let mut new = 0;
            for name in names {
                new += usize::from(rows.mark_forever(&key(name))?);
            }
            Ok(new)
        })
    }

    /// A proof, byte for byte as it was submitted.
    pub fn file(&self, name: &ProofName) -> Result<Option<Vec<u8>>> {
        Ok(self.read_file(name)?.map(|(file, _)| file))
    }

    /// Same as [`Self::file`] for a proof that a client requested. From then on it is permanent.
    pub fn pin_file(&self, name: &ProofName) -> Result<Option<Vec<u8>>> {
        let Some((file, is_kept)) = self.read_file(name)? else { return Ok(None) };
        if !is_kept {
            self.let_stay([name])?;
        }
        Ok(Some(file))
    }

    fn read_file(&self, name: &ProofName) -> Result<Option<(Vec<u8>, bool)>> {
        self.db().read_transaction(|rows| {
            let Some((body, is_kept)) = rows.proof(&key(name))? else { return Ok(None) };
            let damaged = || ProofsError::Damaged { name: Box::new(name.clone()) };
            let file = unpack_proof(rows, &body).ok().flatten().ok_or_else(damaged)?;
            Ok(Some((file, is_kept)))
        })
    }

    /// Permanent proofs that are not yet published, oldest first, up to a maximum.
    pub fn to_publish(&self, most: u32) -> Result<Vec<ProofName>> {
        let keys = self
            .db()
            .read_transaction(|rows| Ok::<_, ProofsError>(rows.to_publish(most.into())?))?;
        keys.iter().map(name).collect()
    }

    /// Marks a proof as published.
    pub fn mark_published(&self, name: &ProofName) -> Result<()> {
        self.db().write_transaction(|rows| Ok(rows.mark_published(&key(name))?))
    }

    /// Removes proofs that are older than the policy keeps, as of a slot.
    pub fn thin(&self, now: Slot) -> Result<ThinReport> {
        let today = i64::from(day_of(now));
        let mut thinned = ThinReport::default();
        let days = self
            .db()
            .read_transaction(|rows| Ok::<_, ProofsError>(rows.days_before(today - WHOLE_DAYS)?))?;
        for day in days {
            let (level, every) =
                if day.day < today - HOURLY_DAYS { (2, Slot::PER_DAY) } else { (1, HOUR) };
            if level <= day.thinned {
                continue;
            }
            // One day per transaction, so that storing a slot's proofs never waits long.
            self.db().write_transaction(|rows| {
                let gone = rows.thin(day.no, every)?;
                let mut used = BTreeSet::new();
                for body in rows.bodies(day.no)? {
                    let body = zstd::bulk::decompress(&body, MAX_BODY_BYTES)?;
                    used.extend(numbers(&body).ok_or(ProofsError::NoProof)?.0);
                }
                for node in rows.nodes(day.no)? {
                    if !used.contains(&node) {
                        rows.delete_node(node)?;
                        thinned.nodes += 1;
                    }
                }
                thinned.proofs += u64::try_from(gone).unwrap_or(u64::MAX);
                Ok::<_, ProofsError>(rows.mark_thinned(day.no, level)?)
            })?;
        }
        Ok(thinned)
    }

    /// The amount of stored data.
    pub fn kept(&self) -> Result<KeptProofs> {
        let count = |number: i64| u64::try_from(number).unwrap_or_default();
        self.db().read_transaction(|rows| {
            Ok(KeptProofs { proofs: count(rows.proofs()?), bytes: count(rows.bytes()?) })
        })
    }
}

fn key(ProofName { contract, slot, reach }: &ProofName) -> ProofKey {
    let reach = match reach {
        Reach::Figures => 0,
        Reach::Whole => 1,
    };
    ProofKey { contract: contract.to_string(), slot: i64::from(slot.number()), reach }
}

fn name(key: &ProofKey) -> Result<ProofName> {
    let damaged = || ProofsError::Row { contract: key.contract.clone(), slot: key.slot };
    let slot = u64::try_from(key.slot).ok().and_then(|slot| Slot::new(slot).ok());
    Ok(ProofName {
        contract: key.contract.parse().map_err(|_| damaged())?,
        slot: slot.ok_or_else(damaged)?,
        reach: if key.reach == 0 { Reach::Figures } else { Reach::Whole },
    })
}

fn put(rows: &Rows<'_>, name: &ProofName, file: &[u8]) -> Result<bool> {
    let (line, nodes) = StateProof::pieces(file).ok_or(ProofsError::NoProof)?;
    let day = rows.day(name.contract.chain().as_str(), i64::from(day_of(name.slot)))?;
    let count = u32::try_from(nodes.len()).map_err(|_| ProofsError::NoProof)?;
    let mut body = count.to_be_bytes().to_vec();
    for node in nodes {
        let no = rows.node(day, &Sha256::digest(node).into(), node)?;
        body.extend_from_slice(&no.to_be_bytes());
    }
    body.extend_from_slice(line);
    let body = zstd::bulk::compress(&body, EFFORT)?;
    Ok(rows.put_proof(&key(name), day, &body)?)
}

/// The numbers of a body's nodes, and its line.
fn numbers(body: &[u8]) -> Option<(Vec<i64>, &[u8])> {
    let (count, rest) = body.split_first_chunk::<4>()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (numbers, line) = rest.split_at_checked(count.checked_mul(8)?)?;
    let (numbers, _) = numbers.as_chunks::<8>();
    Some((numbers.iter().map(|number| i64::from_be_bytes(*number)).collect(), line))
}

/// A proof's file; `None` if the stored data is incomplete.
fn unpack_proof(rows: &Rows<'_>, body: &[u8]) -> Result<Option<Vec<u8>>> {
    let body = zstd::bulk::decompress(body, MAX_BODY_BYTES)?;
    let Some((numbers, line)) = numbers(&body) else { return Ok(None) };
    let mut file = line.to_vec();
    for number in numbers {
        let Some(bytes) = rows.node_bytes(number)? else { return Ok(None) };
        file.extend_from_slice(&bytes);
        if file.len() > MAX_PROOF_BYTES {
            return Ok(None);
        }
    }
    Ok(Some(file))
}
