//! A part's table: its heads and the positions of their bodies, one line each.

use super::{
    Lines, MAX_BACK, MAX_FRAME_LINE_BYTES, MAX_PART_BYTES, MAX_PART_POOLS, MAX_TABLE_BYTES,
    PublishedError, push_line, read_line,
};
use crate::json::wire_struct;
use crate::pools::MAX_STATE_BYTES;
use crate::snapshot::MAX_SNAPSHOT_BYTES;

/// The position of a snapshot's body in its part, and the body that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRef {
    /// How many slots earlier the body of the same contract is that this one refers to; 0 if it is self-contained.
    pub back: u32,
    /// The length of the frame; 0 if the head shares the body of an earlier head in the slot, of another pool of the
    /// same contract.
    pub bytes: u32,
    /// The length of the snapshot's canonical bytes.
    pub snapshot: u32,
    /// The length of the state's canonical bytes, which follow the snapshot's.
    pub state: u32,
}

wire_struct!(FrameRef { back, bytes, snapshot, state });

impl FrameRef {
    /// Whether it shares the body of an earlier head in the slot.
    pub fn is_shared(&self) -> bool {
        self.bytes == 0
    }

    /// The total size of both documents.
    pub fn unpacked_bytes(&self) -> usize {
        self.snapshot as usize + self.state as usize
    }
}

/// A part's table: its heads, and the body positions of those heads that name a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The heads' canonical bytes, in the order of pool ids.
    pub heads: Vec<Vec<u8>>,
    /// One for each head that names a snapshot, in the same order.
    pub frames: Vec<FrameRef>,
}

impl Table {
    /// The table's uncompressed bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PublishedError> {
        let mut bytes = Vec::new();
        for head in &self.heads {
            bytes.extend_from_slice(head);
            bytes.push(b'\n');
        }
        for (line, frame) in (self.heads.len() + 1..).zip(&self.frames) {
            push_line(&mut bytes, line, "a body's place", frame)?;
        }
        Ok(bytes)
    }

    /// Parses the uncompressed table of a part with this many pools. The heads are not parsed.
    pub(super) fn from_bytes(bytes: &[u8], pools: u32) -> Result<Self, PublishedError> {
        let mut lines = Lines::from_bytes(bytes, MAX_TABLE_BYTES)?;
        let pools = pools.min(MAX_PART_POOLS);
        let mut heads = Vec::with_capacity(pools as usize);
        for _ in 0..pools {
            heads.push(lines.next("a head")?.to_vec());
        }
        let mut frames = Vec::new();
        while !lines.rest.is_empty() {
            if frames.len() == heads.len() {
                return Err(PublishedError::GoesOn { line: lines.line });
            }
            let line = lines.next("a body's place")?;
            let frame: FrameRef = read_line(line, MAX_FRAME_LINE_BYTES)
                .map_err(|error| lines.wrong("a body's place", error))?;
            let most_back = if frame.is_shared() { 0 } else { MAX_BACK };
            lines.within("back", frame.back.into(), [0, most_back.into()])?;
            lines.within("bytes", frame.bytes.into(), [0, MAX_PART_BYTES])?;
            lines.within("snapshot", frame.snapshot.into(), [1, MAX_SNAPSHOT_BYTES as u64])?;
            lines.within("state", frame.state.into(), [1, MAX_STATE_BYTES as u64])?;
            frames.push(frame);
        }
        Ok(Self { heads, frames })
    }

    /// Requires that a part of `bytes` bytes ends with its last body, if its first body begins at `start`.
    pub(super) fn check_length(&self, start: u64, bytes: u64) -> Result<(), PublishedError> {
        let end = start + self.frames.iter().map(|frame| u64::from(frame.bytes)).sum::<u64>();
        if end == bytes {
            return Ok(());
        }
        let (line, field) = (self.heads.len() + self.frames.len(), "the end of the last body");
        Err(PublishedError::Bounds { line, field, found: end, least: bytes, most: bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_line_for_each_head_and_each_body() {
        let frame = FrameRef { back: 6, bytes: 300, snapshot: 900, state: 40_000 };
        let table = Table { heads: vec![b"{}".to_vec(), b"[]".to_vec()], frames: vec![frame] };
        let bytes = table.to_bytes().unwrap();
        let expected = "{}\n[]\n{\"back\":6,\"bytes\":300,\"snapshot\":900,\"state\":40000}\n";
        assert_eq!(core::str::from_utf8(&bytes).unwrap(), expected);
        assert_eq!(Table::from_bytes(&bytes, 2), Ok(table.clone()));
        assert_eq!(table.check_length(20, 320), Ok(()));
        assert!(table.check_length(20, 321).is_err());
        for (from, to) in [
            ("\"back\":6", "\"back\":288"),
            ("\"bytes\":300", "\"bytes\":0"),
            ("\"bytes\":300", "\"bytes\":67108865"),
            ("\"state\":40000", "\"state\":4194305"),
            ("\"snapshot\":900", "\"snapshot\":131073"),
        ] {
            let changed = expected.replace(from, to);
            let refused = Table::from_bytes(changed.as_bytes(), 2);
            assert!(matches!(refused, Err(PublishedError::Bounds { line: 3, .. })), "{to}");
        }
        let shared = expected.replace("6,\"bytes\":300", "0,\"bytes\":0");
        let shared = Table::from_bytes(shared.as_bytes(), 2).unwrap();
        assert!(shared.frames[0].is_shared());
        assert!(matches!(Table::from_bytes(b"{}\n", 2), Err(PublishedError::Ends { .. })));
        let more = [expected, expected].concat();
        assert!(matches!(Table::from_bytes(more.as_bytes(), 2), Err(PublishedError::Line { .. })));
        let frames = expected.split_once("]\n").unwrap().1.repeat(3);
        let more = format!("{{}}\n[]\n{frames}");
        assert!(matches!(
            Table::from_bytes(more.as_bytes(), 2),
            Err(PublishedError::GoesOn { .. })
        ));
    }
}
