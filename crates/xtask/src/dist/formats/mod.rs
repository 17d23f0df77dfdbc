//! The file formats of a release, written the same on every machine: no clock, no names of users, no order of a disk.

pub mod ar;
pub mod gzip;
pub mod tar;
pub mod zip;

use std::collections::BTreeMap;

/// Files and folders by their path, without a leading or final `/`. A folder comes before its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<String, Node>);

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The permissions.
    pub mode: u32,
    /// The numeric user and group.
    pub owner: u32,
    /// The content of a file; `None` for a folder.
    pub bytes: Option<Vec<u8>>,
}

impl Tree {
    /// Adds a file of root's, and the folders above that are not in the tree yet.
    pub fn file(&mut self, path: &str, mode: u32, bytes: impl Into<Vec<u8>>) {
        self.above(path);
        self.0.insert(path.to_owned(), Node { mode, owner: 0, bytes: Some(bytes.into()) });
    }

    /// Adds a text, readable by everyone.
    pub fn text(&mut self, path: &str, text: impl Into<String>) {
        self.file(path, 0o644, text.into());
    }

    /// Adds a folder, and those above.
    pub fn folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.above(path);
        self.0.insert(path.to_owned(), Node { mode, owner, bytes: None });
    }

    /// The nodes, in the order of their paths.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(path, node)| (path.as_str(), node))
    }

    fn above(&mut self, path: &str) {
        for (end, _) in path.match_indices('/') {
            let folder = Node { mode: 0o755, owner: 0, bytes: None };
            self.0.entry(path[..end].to_owned()).or_insert(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_their_content_and_keep_their_owner() {
        let mut tree = Tree::default();
        tree.folder("var/lib/x", 0o700, 7);
        tree.text("var/lib/x/file", "a");
        tree.text("var/lib-x", "b");
        let paths: Vec<_> = tree.nodes().map(|(path, node)| (path, node.owner)).collect();
        let expected =
            [("var", 0), ("var/lib", 0), ("var/lib-x", 0), ("var/lib/x", 7), ("var/lib/x/file", 0)];
        assert_eq!(paths, expected);
    }
}
