//! Archives of `ar`, of which a Debian package is one.

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Packs files in the given order.
pub fn pack(files: &[(&str, &[u8])], time_s: u64) -> Vec<u8> {
    let mut packed = MAGIC.to_vec();
    for (name, bytes) in files {
        let header =
            format!("{name:<16}{time_s:<12}{:<6}{:<6}100644  {:<10}`\n", 0, 0, bytes.len());
        packed.extend(header.as_bytes());
        packed.extend(*bytes);
        if bytes.len() % 2 == 1 {
            packed.push(b'\n');
        }
    }
    packed
}

/// The members of an archive, each with its whole header and its content; `None` if it is not an archive.
pub fn members(packed: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut rest = packed.strip_prefix(MAGIC)?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (header, body) = rest.split_at_checked(HEADER)?;
        let header = std::str::from_utf8(header).ok()?;
        let size: usize = header.get(48..58)?.trim_end().parse().ok()?;
        members.push((header.trim_end().to_owned(), body.get(..size)?.to_vec()));
        rest = body.get((size + size % 2).min(body.len())..)?;
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_read_as_packed() {
        let packed = pack(&[("debian-binary", b"2.0\n"), ("odd", b"abc"), ("last", b"de")], 7);
        let members = members(&packed).unwrap();
        let names: Vec<_> = members.iter().map(|(header, _)| &header[..16]).collect();
        assert_eq!(names, ["debian-binary   ", "odd             ", "last            "]);
        assert_eq!(members[1].1, b"abc");
        assert_eq!(members[2].1, b"de");
        assert_eq!(packed.len() % 2, 0);
        assert_eq!(super::members(b"other"), None);
        assert_eq!(super::members(&packed[..70]), None);
    }
}
