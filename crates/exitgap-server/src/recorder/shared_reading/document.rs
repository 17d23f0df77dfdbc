//! The readings of a shard at a slot, as stored in the database until the slot is sealed. Only the recorders of one
//! store read it, and they trust it as little as a node's answer: anything that is not a valid snapshot of its pool is
//! discarded.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use exitgap_chain::{ReadFailure, Unproven};
use exitgap_core::ids::{ChainSlug, Contract, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{NewDoubt, spread};
use serde::{Deserialize, Serialize};

use super::super::chains::{ChainPools, ChainReading, PoolReading, ReadSnapshot};
use super::super::proofs::Proofs;
use super::Shard;

/// The version of the document. Recorders of other versions do not read it.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    slot: u32,
    chain: String,
    pools: Vec<PoolDocument>,
    doubts: Vec<DoubtDocument>,
    proofs: ProofsDocument,
    requests: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum PoolDocument {
    /// The canonical bytes of its snapshot and of its state.
    Read {
        pool: String,
        snapshot: String,
        state: String,
    },
    Missing {
        pool: String,
        reason: String,
        detail: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DoubtDocument {
    pool: String,
    first: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofsDocument {
    proven: u32,
    oracles_proven: u32,
    /// Number by reason.
    unproven: BTreeMap<String, u32>,
    /// In Base64, by contract.
    files: BTreeMap<String, String>,
}

/// The readings of a shard.
pub struct ShardReading {
    pub chain: ChainSlug,
    pub of: ChainPools,
}

/// Encodes the readings of a shard.
pub fn encode_reading(slot: Slot, shard: &Shard, reading: &ChainReading) -> Vec<u8> {
    let pools: Vec<(&PoolId, &PoolReading)> = shard.pools.iter().zip(&reading.pools).collect();
    let pool = |(pool, reading): &(&PoolId, &PoolReading)| {
        let missing = |reason: MissingReason, detail: &str| PoolDocument::Missing {
            pool: pool.to_string(),
            reason: reason.code().to_owned(),
            detail: detail.to_owned(),
        };
        let read = match reading {
            Ok(read) => read,
            Err(error) => return missing(error.reason, &error.detail),
        };
        let documents = read.snapshot.to_canonical().map_err(|error| error.to_string());
        let texts = documents.and_then(|documents| {
            let text = |bytes| String::from_utf8(bytes).map_err(|error| error.to_string());
            Ok((text(documents.snapshot)?, text(documents.state)?))
        });
        match texts {
            Ok((snapshot, state)) => PoolDocument::Read { pool: pool.to_string(), snapshot, state },
            Err(error) => {
                let detail = format!("its snapshot cannot be stored: {error}");
                missing(MissingReason::PoolUnsupported, &detail)
            }
        }
    };
    let doubt = |doubt: &NewDoubt| DoubtDocument {
        pool: doubt.pool.to_string(),
        first: doubt.first.number(),
    };
    let Proofs { files, proven, oracles_proven, unproven } = &reading.proofs;
    let document = Document {
        version: VERSION,
        slot: slot.number(),
        chain: shard.chain.to_string(),
        pools: spread(&pools, pool),
        doubts: reading.doubts.iter().map(doubt).collect(),
        proofs: ProofsDocument {
            proven: *proven,
            oracles_proven: *oracles_proven,
            unproven: unproven.iter().map(|(why, n)| (why.code().to_owned(), *n)).collect(),
            files: files
                .iter()
                .map(|(contract, file)| (contract.to_string(), Base64::encode_string(file)))
                .collect(),
        },
        requests: reading.requests,
    };
    serde_json::to_vec(&document).unwrap_or_default()
}

/// Decodes a reading; the error says why it is not one of this slot.
pub fn decode_reading(slot: Slot, bytes: &[u8]) -> Result<ShardReading, String> {
    let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Document { version, chain, pools, doubts, proofs, requests, .. } = document;
    if version != VERSION {
        return Err(format!("it has version {version}, but this recorder has version {VERSION}"));
    }
    if document.slot != slot.number() {
        return Err(format!("it is of slot number {}", document.slot));
    }
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let chain: ChainSlug = chain.parse().map_err(|error| words(&error))?;
    let pools = spread(&pools, pool_of);
    let doubt = |DoubtDocument { pool, first }: DoubtDocument| {
        let pool: PoolId = pool.parse().map_err(|error| words(&error))?;
        let first = Slot::new(first.into()).map_err(|error| words(&error))?;
        Ok::<_, String>(NewDoubt { pool, first })
    };
    Ok(ShardReading {
        chain,
        of: ChainPools {
            pools: pools.into_iter().collect::<Result<_, String>>()?,
            doubts: doubts.into_iter().map(doubt).collect::<Result<_, String>>()?,
            requests,
            logs: None,
            proofs: proofs_of(proofs)?,
            heads: None,
        },
    })
}

fn pool_of(document: &PoolDocument) -> Result<(PoolId, PoolReading), String> {
    let (PoolDocument::Read { pool, .. } | PoolDocument::Missing { pool, .. }) = document;
    let id: PoolId = pool.parse().map_err(|error| format!("{pool}: {error}"))?;
    let reading = match document {
        PoolDocument::Read { snapshot, state, .. } => {
            let snapshot = Snapshot::of_pool(&id, snapshot.as_bytes(), state.as_bytes());
            snapshot.map(|snapshot| ReadSnapshot { snapshot, ready: None }).map_err(|error| {
                ReadFailure {
                    reason: MissingReason::PoolUnsupported,
                    detail: format!("its reading is not a valid snapshot: {error}"),
                }
            })
        }
        PoolDocument::Missing { reason, detail, .. } => {
            let reason = MissingReason::from_code(reason).map_err(|error| error.to_string())?;
            Err(ReadFailure { reason, detail: detail.clone() })
        }
    };
    Ok((id, reading))
}

fn proofs_of(document: ProofsDocument) -> Result<Proofs, String> {
    let ProofsDocument { proven, oracles_proven, unproven, files } = document;
    let counted = |(code, count): (String, u32)| {
        let why = Unproven::ALL.into_iter().find(|why| why.code() == code);
        let why = why.ok_or_else(|| format!("nothing is unproven for {code}"))?;
        Ok::<_, String>((why, count))
    };
    let file = |(contract, file): (String, String)| {
        let contract: Contract =
            contract.parse().map_err(|error| format!("{contract}: {error}"))?;
        let file = Base64::decode_vec(&file).map_err(|error| format!("{contract}: {error}"))?;
        Ok::<_, String>((contract, file))
    };
    Ok(Proofs {
        files: files.into_iter().map(file).collect::<Result<_, _>>()?,
        proven,
        oracles_proven,
        unproven: unproven.into_iter().map(counted).collect::<Result<_, String>>()?,
    })
}
