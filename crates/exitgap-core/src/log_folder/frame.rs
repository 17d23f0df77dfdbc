//! Examines Zstandard frames from outside: whether bytes are exactly one frame, judged by the lengths of its blocks.
//! Decompressors skip *skippable* frames, which can contain anything, and continue with the next frame.

/// The first bytes of a frame. Skippable frames start differently.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The maximum size of a block, compressed or not.
const MAX_BLOCK_BYTES: usize = 128 << 10;

/// Why packed bytes are refused, whatever they unpack to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// They are not one frame, or not only one.
    #[error("it is not a complete Zstandard frame, or more than one")]
    NotOneFrame,
    /// They are more than it takes to pack what they hold.
    #[error("{found} bytes are more than {unpacked} bytes can be packed to")]
    TooLong {
        /// The packed bytes.
        found: u64,
        /// The bytes that they hold.
        unpacked: u64,
    },
}

/// Requires that packed bytes are one frame, and not more bytes than so many can be packed to. Otherwise bytes that no
/// check sees could be anywhere in a file: unpackers pass over them.
pub fn check_frame(packed: &[u8], unpacked: u64) -> Result<(), FrameError> {
    if !is_one_frame(packed) {
        return Err(FrameError::NotOneFrame);
    }
    let found = packed.len() as u64;
    if found > most_packed(unpacked) {
        Err(FrameError::TooLong { found, unpacked })
    } else {
        Ok(())
    }
}

/// Whether these bytes are exactly one Zstandard frame that is not skippable. Nothing is decompressed.
pub fn is_one_frame(bytes: &[u8]) -> bool {
    after_frame(bytes).is_some_and(<[u8]>::is_empty)
}

/// The maximum compressed size of this many bytes: incompressible data is stored in raw blocks.
pub const fn most_packed(unpacked: u64) -> u64 {
    unpacked.saturating_add(unpacked / 256).saturating_add(512)
}

/// The bytes after the frame at the start of these bytes.
fn after_frame(bytes: &[u8]) -> Option<&[u8]> {
    let (descriptor, rest) = bytes.strip_prefix(&MAGIC)?.split_first()?;
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3))?;
    let content = match (descriptor >> 6, is_single) {
        (0, true) => 1,
        (0, false) => 0,
        (flag, _) => 1 << flag,
    };
    let mut rest = rest.get(window + dictionary + content..)?;
    loop {
        let (header, blocks) = rest.split_first_chunk::<3>()?;
        let header =
            header.iter().rev().fold(0_usize, |number, byte| (number << 8) | usize::from(*byte));
        let size = header >> 3;
        if size > MAX_BLOCK_BYTES {
            return None;
        }
        let stored = match (header >> 1) & 3 {
            // A raw or a compressed block.
            0 | 2 => size,
            // An RLE block: one byte, repeated.
            1 => 1,
            _ => return None,
        };
        rest = blocks.get(stored..)?;
        if header & 1 == 1 {
            break;
        }
    }
    let checksum = if descriptor & 4 == 0 { 0 } else { 4 };
    rest.get(checksum..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `abc` as one raw block.
    const FRAME: [u8; 12] = *b"\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00abc";

    /// A skippable frame with three bytes that decompressors ignore.
    const SKIPPABLE: [u8; 11] = *b"\x50\x2a\x4d\x18\x03\x00\x00\x00xyz";

    #[test]
    fn one_frame_is_told_from_skippable_ones_and_from_more() {
        assert!(is_one_frame(&FRAME));
        let frames: [&[u8]; 6] = [
            &[],
            &SKIPPABLE,
            &[&SKIPPABLE[..], &FRAME].concat(),
            &[&FRAME[..], &SKIPPABLE].concat(),
            &[&FRAME[..], &FRAME].concat(),
            &[&FRAME[..], b"x"].concat(),
        ];
        for bytes in frames {
            assert!(!is_one_frame(bytes), "{bytes:x?}");
        }
        for cut in 0..FRAME.len() {
            assert!(!is_one_frame(&FRAME[..cut]), "{cut}");
        }
    }

    #[test]
    fn a_frame_may_have_the_bytes_that_its_content_needs_and_no_more() {
        assert_eq!(check_frame(&FRAME, 3), Ok(()));
        assert_eq!(check_frame(&[&FRAME[..], b"x"].concat(), 3), Err(FrameError::NotOneFrame));
        // Empty blocks before the last, each of which an unpacker passes over.
        let empty = [0; 3].repeat(400);
        let padded = [&FRAME[..6], &empty, &FRAME[6..]].concat();
        assert!(is_one_frame(&padded));
        assert_eq!(check_frame(&padded, 3), Err(FrameError::TooLong { found: 1_212, unpacked: 3 }));
        assert_eq!(check_frame(&padded, 700), Ok(()));
    }

    #[test]
    fn each_form_of_a_frames_header_and_blocks_is_read() {
        // A window but no content length; a repeated byte, then an empty last block, and a checksum.
        let checked = b"\x28\xb5\x2f\xfd\x04\x58\x42\x0d\x03a\x01\x00\x00sums";
        assert!(is_one_frame(checked));
        assert!(!is_one_frame(&checked[..checked.len() - 1]));
        // A dictionary id of one byte, and a content length of two bytes.
        assert!(is_one_frame(b"\x28\xb5\x2f\xfd\x61\x07\x00\x00\x01\x00\x00"));
        // A block type that does not exist, and a block that is too long.
        assert!(!is_one_frame(b"\x28\xb5\x2f\xfd\x20\x03\x1f\x00\x00abc"));
        assert!(!is_one_frame(
            &[&b"\x28\xb5\x2f\xfd\x20\x03\xff\xff\xff"[..], &vec![0; 1 << 21]].concat()
        ));
    }
}
