//! Finds the first difference between two files of two releases, also inside of archives.

use super::formats::{ar, gzip, tar, zip};

/// Where two files differ first, such as `data.tar.gz, usr/bin/exitgap: byte 7 of 9`; `None` if they are the same.
pub fn first(one: &[u8], other: &[u8]) -> Option<String> {
    if one == other {
        return None;
    }
    let (Some(inside), Some(of_other)) = (members(one), members(other)) else {
        let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        return Some(format!("byte {same} of {} and {}", one.len(), other.len()));
    };
    for ((name, bytes), (other_name, other_bytes)) in inside.iter().zip(&of_other) {
        // What is inside says more than a name that is made of its hash.
        if let Some(place) = first(bytes, other_bytes) {
            return Some(format!("{name}: {place}"));
        }
        if name != other_name {
            return Some(format!("{name} is {other_name} in the other"));
        }
    }
    if inside.len() != of_other.len() {
        return Some(format!(
            "it has {} members, and {} in the other",
            inside.len(),
            of_other.len()
        ));
    }
    Some("the same members, packed otherwise".to_owned())
}

/// The members of an archive of any kind, or the one of a compressed file.
fn members(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    if let Some(unpacked) = gzip::unpack(bytes) {
        return Some(members(&unpacked).unwrap_or_else(|| vec![("content".to_owned(), unpacked)]));
    }
    let found = tar::entries(bytes).or_else(|| ar::members(bytes));
    found.or_else(|| bytes.starts_with(b"PK").then(|| zip::members(bytes)).flatten())
}

#[cfg(test)]
mod tests {
    use super::super::formats::Tree;
    use super::*;

    fn packed(program: &str, mode: u32) -> Vec<u8> {
        let mut tree = Tree::default();
        tree.file("a/program", mode, program);
        tree.text("z", "same");
        let inner = gzip::pack(&tar::pack(&tree, "", 1).unwrap());
        ar::pack(&[("first", b"same"), ("data.tar.gz", &inner)], 1)
    }

    #[test]
    fn the_file_in_the_archive_that_differs_first_is_named() {
        let right = packed("program", 0o755);
        assert_eq!(first(&right, &packed("program", 0o755)), None);
        let other = first(&right, &packed("progrbm", 0o755)).unwrap();
        assert!(other.starts_with("data.tar.gz") && other.contains(": a/program "), "{other}");
        assert!(other.ends_with(": byte 5 of 7 and 7"), "{other}");
        let mode = first(&right, &packed("program", 0o700)).unwrap();
        assert!(mode.contains("mode 0000755") && mode.contains("mode 0000700"), "{mode}");
        let longer = ar::pack(&[("first", b"same")], 1);
        let fewer = ar::pack(&[("first", b"same"), ("second", b"")], 1);
        assert_eq!(first(&longer, &fewer).unwrap(), "it has 1 members, and 2 in the other");
        assert_eq!(first(b"abc", b"abd").unwrap(), "byte 2 of 3 and 3");
        let mut header = gzip::pack(b"x");
        header[8] = 0;
        assert_eq!(
            first(&gzip::pack(b"x"), &header).unwrap(),
            "the same members, packed otherwise"
        );
    }
}
