//! A slot's manifest: its leaf, its parts and the checkpoint up to it, one line each.

use sha2::{Digest, Sha256};

use super::{
    Lines, LogFile, MAX_CHECKPOINT_LINE_BYTES, MAX_MANIFEST_BYTES, MAX_PART_BYTES,
    MAX_PART_LINE_BYTES, MAX_PART_POOLS, MAX_PARTS, PublishedError, push_line, read_line,
};
use crate::evidence::{MAX_LEAF_BYTES, SlotLeaf};
use crate::ids::{Contract, DocumentHash, Pair, PoolId};
use crate::json::{from_canonical, wire_struct};

/// A part of a slot, as its manifest names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRef {
    /// The SHA-256 of the file, which is also its name.
    pub sha256: DocumentHash,
    /// The length of the file.
    pub bytes: u64,
    /// The pool of its first head.
    pub first: PoolId,
    /// The number of heads in it.
    pub pools: u32,
}

impl PartRef {
    /// The hash of a part's file.
    pub fn hash_of(file: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(file).into())
    }

    /// The path of the part in the folder.
    pub fn path(&self) -> String {
        LogFile::Part(self.sha256).to_string()
    }
}

struct PartLine {
    v: u32,
    sha256: DocumentHash,
    bytes: u64,
    first: PoolId,
    pools: u32,
}

wire_struct!(PartLine { v, sha256, bytes, first, pools });

struct CheckpointLine {
    checkpoint: String,
}

wire_struct!(CheckpointLine { checkpoint });

/// A sealed slot: its leaf and checkpoint, and the parts with its heads and snapshot bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The slot leaf's canonical bytes. They may not be a valid [`SlotLeaf`].
    pub leaf: Vec<u8>,
    /// The parts, in the order of pool ids.
    pub parts: Vec<PartRef>,
    /// The signed checkpoint of the log, up to and including this slot.
    pub checkpoint: String,
}

impl Manifest {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PublishedError> {
        if !(1..=MAX_PARTS).contains(&self.parts.len()) {
            return Err(PublishedError::Parts { found: self.parts.len() });
        }
        let mut bytes = [&self.leaf[..], b"\n"].concat();
        for (line, part) in (2..).zip(&self.parts) {
            let PartRef { sha256, bytes: length, ref first, pools } = *part;
            let line_of = PartLine { v: 1, sha256, bytes: length, first: first.clone(), pools };
            push_line(&mut bytes, line, "a part", &line_of)?;
        }
        let checkpoint = CheckpointLine { checkpoint: self.checkpoint.clone() };
        push_line(&mut bytes, self.parts.len() + 2, "the checkpoint", &checkpoint)?;
        Ok(bytes)
    }

    /// Parses and validates untrusted bytes. Leaf and checkpoint are not parsed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublishedError> {
        let mut lines = Lines::from_bytes(bytes, MAX_MANIFEST_BYTES)?;
        let leaf = lines.next("the slot leaf")?.to_vec();
        let mut parts: Vec<PartRef> = Vec::new();
        loop {
            let line = lines.next("a part or the checkpoint")?;
            if line.starts_with(br#"{"checkpoint":"#) {
                let what = "the checkpoint";
                let read: CheckpointLine = read_line(line, MAX_CHECKPOINT_LINE_BYTES)
                    .map_err(|error| lines.wrong(what, error))?;
                if parts.is_empty() {
                    return Err(PublishedError::Parts { found: 0 });
                }
                if !lines.rest.is_empty() {
                    return Err(PublishedError::GoesOn { line: lines.line });
                }
                return Ok(Self { leaf, parts, checkpoint: read.checkpoint });
            }
            if parts.len() == MAX_PARTS {
                return Err(PublishedError::Parts { found: MAX_PARTS + 1 });
            }
            let read: PartLine = from_canonical(line, MAX_PART_LINE_BYTES, "a part's line")
                .map_err(|error| lines.wrong("a part", error))?;
            let PartLine { sha256, bytes, first, pools, .. } = read;
            lines.within("bytes", bytes, [5, MAX_PART_BYTES])?;
            lines.within("pools", pools.into(), [1, MAX_PART_POOLS.into()])?;
            // Pool ids are ordered as text.
            let before = parts.last().map(|part| part.first.to_string());
            if before.is_some_and(|before| before >= first.to_string()) {
                return Err(PublishedError::Order { line: lines.line, first });
            }
            parts.push(PartRef { sha256, bytes, first, pools });
        }
    }

    /// The maximum size of a manifest for this many heads. Each part has at least one head.
    pub fn most_bytes(pools: u32) -> usize {
        let parts = (pools as usize).clamp(1, MAX_PARTS);
        MAX_LEAF_BYTES + parts * MAX_PART_LINE_BYTES + MAX_CHECKPOINT_LINE_BYTES + 2
    }

    /// Requires that the parts have as many heads as the leaf commits to.
    pub fn check_pools(&self, leaf: &SlotLeaf) -> Result<(), PublishedError> {
        let found = self.parts.iter().map(|part| u64::from(part.pools)).sum();
        if found == u64::from(leaf.pools) {
            return Ok(());
        }
        Err(PublishedError::Pools { expected: leaf.pools, found })
    }

    /// The parts that can contain heads of the contract's pools, in order.
    pub fn parts_of(&self, contract: &Contract) -> &[PartRef] {
        let [first, last] = [None, Some(Pair::LAST)].map(|pair| contract.pool(pair));
        let after = |pool: &PoolId| self.parts.partition_point(|part| part.first <= *pool);
        &self.parts[after(&first).saturating_sub(1)..after(&last)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: &str, pools: u32) -> PartRef {
        let first = first.parse().unwrap();
        PartRef { sha256: DocumentHash([7; 32]), bytes: 40, first, pools }
    }

    const POOLS: [&str; 2] = [
        "anvil-b:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "anvil:0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    ];

    fn manifest() -> Manifest {
        Manifest {
            leaf: b"{}".to_vec(),
            parts: vec![part(POOLS[0], 250), part(POOLS[1], 3)],
            checkpoint: "a\n1\n\n".to_owned(),
        }
    }

    #[test]
    fn manifests_have_these_bytes_and_no_others() {
        let bytes = manifest().to_bytes().unwrap();
        let hash = "07".repeat(32);
        let line = |first: &str, pools: u32| {
            format!(r#"{{"bytes":40,"first":"{first}","pools":{pools},"sha256":"0x{hash}","v":1}}"#)
        };
        let expected = format!(
            "{{}}\n{}\n{}\n{}\n",
            line(POOLS[0], 250),
            line(POOLS[1], 3),
            r#"{"checkpoint":"a\n1\n\n"}"#
        );
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        assert_eq!(Manifest::from_bytes(&bytes), Ok(manifest()));
        assert_eq!(manifest().parts[0].path(), format!("parts/{hash}"));

        let refused = |from: &str, to: &str| {
            let changed = expected.replacen(from, to, 1);
            assert_ne!(changed, expected);
            Manifest::from_bytes(changed.as_bytes()).unwrap_err()
        };
        let bounds =
            |error, name| matches!(error, PublishedError::Bounds { field, .. } if field == name);
        assert!(bounds(refused("\"bytes\":40", "\"bytes\":67108865"), "bytes"));
        assert!(bounds(refused("\"bytes\":40", "\"bytes\":4"), "bytes"));
        assert!(bounds(refused("\"pools\":250", "\"pools\":251"), "pools"));
        assert!(bounds(refused("\"pools\":3", "\"pools\":0"), "pools"));
        assert!(matches!(refused("\"v\":1", "\"v\":2"), PublishedError::Line { line: 2, .. }));
        assert!(matches!(refused("{\"bytes\"", "{ \"bytes\""), PublishedError::Line { .. }));
        assert!(matches!(
            refused(POOLS[0], &POOLS[1].replace('b', "c")),
            PublishedError::Order { line: 3, .. }
        ));
        assert!(matches!(refused("\"}\n", "\"}\n\n"), PublishedError::GoesOn { line: 4 }));
        assert!(matches!(refused("\"}\n", "\"}"), PublishedError::Ends { line: 4, .. }));
        assert!(matches!(
            Manifest::from_bytes(b"{}\n{\"checkpoint\":\"\"}\n"),
            Err(PublishedError::Parts { found: 0 })
        ));
        let long = vec![b'\n'; MAX_MANIFEST_BYTES + 1];
        assert!(matches!(Manifest::from_bytes(&long), Err(PublishedError::TooLarge { .. })));
    }

    #[test]
    fn a_contracts_parts_begin_with_the_last_that_begins_at_or_before_it() {
        let [a, b] = POOLS;
        let parts = |firsts: &[&str], contract: &str| {
            let parts = firsts.iter().map(|first| part(first, 3)).collect();
            let manifest = Manifest { parts, ..manifest() };
            let found = manifest.parts_of(&contract.parse().unwrap());
            found.iter().map(|part| part.first.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(parts(&POOLS, a), [a]);
        assert_eq!(parts(&POOLS, b), [b]);
        let between = a.replace('a', "b").replace("bnvil", "anvil");
        assert_eq!(parts(&POOLS, &between), [a]);
        let none: [&str; 0] = [];
        assert_eq!(parts(&POOLS, "aaa:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), none);
        // The pools of one contract can be spread over several parts.
        let pairs = [a.to_owned(), format!("{b}.0-2"), format!("{b}.6-7")];
        let firsts = [&pairs[0][..], &pairs[1], &pairs[2]];
        assert_eq!(parts(&firsts, b), firsts);
    }
}
