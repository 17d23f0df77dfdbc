//! Compression as RFC 1952 (gzip), without a name and a time.

/// Identification, deflate, no flags, no time, slowest compression, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];

/// Compresses.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = HEADER.to_vec();
    packed.extend(miniz_oxide::deflate::compress_to_vec(bytes, 9));
    packed.extend(crc32(bytes).to_le_bytes());
    // The length modulo 2^32, as the format wants it.
    packed.extend(&(bytes.len() as u64).to_le_bytes()[..4]);
    packed
}

/// The content of a compressed file, which need not be one of ours; `None` if it is not a valid one.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (header, mut body) = packed.split_at_checked(HEADER.len())?;
    let flags = header[3];
    if header[..3] != HEADER[..3] || flags & !0b1000 != 0 {
        return None;
    }
    if flags & 0b1000 != 0 {
        let end = body.iter().position(|byte| *byte == 0)?;
        body = &body[end + 1..];
    }
    let (body, end) = body.split_at_checked(body.len().checked_sub(8)?)?;
    let bytes = miniz_oxide::inflate::decompress_to_vec(body).ok()?;
    (end[..4] == crc32(&bytes).to_le_bytes()).then_some(bytes)
}

/// The checksum of RFC 1952, section 8.
fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (value, entry) in (0..).zip(&mut table) {
        let step = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
        *entry = (0..8).fold(value, step);
    }
    let step = |sum: u32, byte: &u8| table[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8);
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_unpacks_here_and_by_gzip_and_a_changed_byte_is_noticed() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the check value of this checksum");
        let bytes = b"exit ".repeat(10_000);
        let packed = pack(&bytes);
        assert!(packed.len() < 1_000);
        assert_eq!(unpack(&packed), Some(bytes.clone()));
        for at in [0, 3, packed.len() - 6] {
            let mut changed = packed.clone();
            changed[at] ^= 4;
            assert_eq!(unpack(&changed), None, "{at}");
        }
        assert_eq!(unpack(b""), None);
        let file = std::env::temp_dir().join(format!("exitgap-gzip-{}.gz", std::process::id()));
        std::fs::write(&file, &packed).unwrap();
        let output = std::process::Command::new("gzip").arg("-dc").arg(&file).output().unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(output.stdout, bytes);
    }
}
