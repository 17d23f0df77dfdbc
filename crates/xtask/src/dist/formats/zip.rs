//! Archives of `zip`, of which a Python wheel is one: read, to compare two of them.

/// The signatures of the end of the directory, of a member in it, and of a member.
const END: &[u8] = b"PK\x05\x06";
const LISTED: &[u8] = b"PK\x01\x02";

/// The members, each with its name and its record in the directory, and its compressed content; `None` if it is not an
/// archive.
pub fn members(packed: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let field = packed.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0, |number, byte| (number << 8) | usize::from(*byte)))
    };
    let end = packed.windows(END.len()).rposition(|window| window == END)?;
    let (count, mut at) = (number(end + 10, 2)?, number(end + 16, 4)?);
    let mut members = Vec::with_capacity(count);
    for _ in 0..count {
        if packed.get(at..at + 4)? != LISTED {
            return None;
        }
        let (size, from) = (number(at + 20, 4)?, number(at + 42, 4)?);
        let (name, more, comment) = (number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?);
        // The member itself repeats name and extra field, which may have another length.
        let begin = from + 30 + number(from + 26, 2)? + number(from + 28, 2)?;
        let content = packed.get(begin..begin + size)?;
        let text = String::from_utf8_lossy(packed.get(at + 46..at + 46 + name)?).into_owned();
        // Versions, method, time and permissions.
        let record = packed.get(at + 4..at + 16)?.iter().chain(packed.get(at + 36..at + 42)?);
        let record = record.fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        members.push((format!("{text} (record {record})"), content.to_vec()));
        at += 46 + name + more + comment;
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive with one stored member, `a` with the content `xyz`, as `python3 -m zipfile` writes it.
    const ONE: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\xb3\x61\xea\xeb\x03\0\0\0\x03\0\0\0\x01\0\0\0axyz\
        PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0!\0\xb3\x61\xea\xeb\x03\0\0\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\xa4\x81\0\0\0\0a\
        PK\x05\x06\0\0\0\0\x01\0\x01\0/\0\0\0\x22\0\0\0\0\0";

    #[test]
    fn members_are_read_with_their_content() {
        let members = members(ONE).unwrap();
        assert_eq!(members.len(), 1);
        assert!(members[0].0.starts_with("a (record 1403"), "{}", members[0].0);
        assert_eq!(members[0].1, b"xyz");
        assert_eq!(super::members(b"other"), None);
        assert_eq!(super::members(&ONE[20..]), None);
    }
}
