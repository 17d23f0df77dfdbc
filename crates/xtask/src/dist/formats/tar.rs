//! Archives of `tar` in the form of POSIX (ustar).

use super::Tree;
use crate::failure::{Failure, Result};

const BLOCK: usize = 512;

/// The longest name and prefix of a header.
const NAME: usize = 100;
const PREFIX: usize = 155;

/// Packs a tree below a folder, whose own entry comes first: `name/` for an archive, `./` for a Debian package, an empty
/// text for the root of a container.
pub fn pack(tree: &Tree, below: &str, time_s: u64) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    if !below.is_empty() {
        packed.extend_from_slice(&header(below, 0o755, 0, 0, time_s)?);
    }
    for (path, node) in tree.nodes() {
        let bytes = node.bytes.as_deref().unwrap_or_default();
        let end = if node.bytes.is_some() { "" } else { "/" };
        let path = format!("{below}{path}{end}");
        packed.extend_from_slice(&header(&path, node.mode, node.owner, bytes.len(), time_s)?);
        packed.extend_from_slice(bytes);
        packed.resize(packed.len().next_multiple_of(BLOCK), 0);
    }
    packed.resize(packed.len() + 2 * BLOCK, 0);
    Ok(packed)
}

/// The header of an entry; a path that ends with `/` is a folder.
fn header(path: &str, mode: u32, owner: u32, size: usize, time_s: u64) -> Result<[u8; BLOCK]> {
    let (prefix, name) = split(path)
        .ok_or_else(|| Failure::new(format!("the path {path} is too long for an archive")))?;
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, format!("{owner:07o}\0").as_bytes());
    put(116, format!("{owner:07o}\0").as_bytes());
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, format!("{time_s:011o}\0").as_bytes());
    // The checksum counts itself as eight spaces.
    put(148, b"        ");
    put(156, if path.ends_with('/') { b"5" } else { b"0" });
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

/// Prefix and name of a path.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME {
        return Some(("", path));
    }
    let places = path.rmatch_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    let mut fitting = places
        .filter(|(prefix, name)| !name.is_empty() && prefix.len() <= PREFIX && name.len() <= NAME);
    fitting.next()
}

/// The entries of an archive: each with its path, kind, permissions, owner and time in one text, and its content; `None`
/// if it is not an archive.
pub fn entries(packed: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut entries = Vec::new();
    let mut rest = packed;
    loop {
        let block = rest.get(..BLOCK)?;
        if block.iter().all(|byte| *byte == 0) {
            return Some(entries);
        }
        if block.get(257..262)? != b"ustar" {
            return None;
        }
        let text = |from: usize, to: usize| {
            let field = &block[from..to];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8_lossy(&field[..end]).trim().to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).ok()?;
        let (name, prefix) = (text(0, 100), text(345, 500));
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let about = format!(
            "{path} (kind {}, mode {}, user {}, group {}, time {}, link {:?})",
            text(156, 157),
            text(100, 108),
            text(108, 116),
            text(116, 124),
            text(136, 148),
            text(157, 257),
        );
        entries.push((about, rest.get(BLOCK..BLOCK + size)?.to_vec()));
        rest = rest.get(BLOCK + size.next_multiple_of(BLOCK)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tar_unpacks_what_is_packed_with_modes_times_and_long_paths() {
        let long = format!("{}/{}/file", "a".repeat(80), "b".repeat(60));
        let mut tree = Tree::default();
        tree.file("program", 0o755, "#!/bin/sh\n");
        tree.text(&long, "deep\n".repeat(200));
        tree.folder("empty", 0o700, 10_001);
        let packed = pack(&tree, "top/", 1_000_000_000).unwrap();
        assert_eq!(packed, pack(&tree.clone(), "top/", 1_000_000_000).unwrap());
        let folder = std::env::temp_dir().join(format!("exitgap-tar-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.tar"), &packed).unwrap();
        let run = |arguments: &[&str]| {
            let output = std::process::Command::new("tar")
                .args(arguments)
                .current_dir(&folder)
                .env("TZ", "UTC")
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let listed = run(&["-tvf", "a.tar", "--numeric-owner"]);
        let program = listed.lines().find(|line| line.ends_with("top/program")).unwrap();
        assert!(program.starts_with("-rwxr-xr-x 0/0"), "{program}");
        assert!(program.contains("2001-09-09 01:46"), "{program}");
        let empty = listed.lines().find(|line| line.ends_with("top/empty/")).unwrap();
        assert!(empty.starts_with("drwx------ 10001/10001"), "{empty}");
        run(&["-xf", "a.tar", "--no-same-owner"]);
        let read = std::fs::read_to_string(folder.join("top").join(&long)).unwrap();
        assert_eq!(read, "deep\n".repeat(200));
        std::fs::remove_dir_all(&folder).unwrap();
        let read = entries(&packed).unwrap();
        let names: Vec<_> =
            read.iter().map(|(about, _)| about.split(' ').next().unwrap()).collect();
        let (first, second) = (format!("top/{}/", "a".repeat(80)), format!("top/{long}"));
        let middle = second.trim_end_matches("file");
        assert_eq!(names, ["top/", &first, middle, &second, "top/empty/", "top/program"]);
        assert!(pack(&tree, &"x".repeat(300), 0).is_err());
    }
}
