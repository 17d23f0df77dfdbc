//! What errors of files are called where a person must act on them. Every program says it in the same words. Files themselves are
//! left to the caller.

use std::fmt;
use std::io;

/// An error of a file in words: a full disk is called one, with what to do about it.
pub fn explained(error: &io::Error) -> impl fmt::Display + '_ {
    Explained(error)
}

/// Whether there was no room, on the disk or in what a user may have of it.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

struct Explained<'a>(&'a io::Error);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            io::ErrorKind::StorageFull => {
                write!(f, "the disk is full ({}); free space on it, or use another one", self.0)
            }
            io::ErrorKind::QuotaExceeded => write!(
                f,
                "this user's share of the disk is full ({}); free space, or raise the quota",
                self.0
            ),
            _ => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_one_and_other_errors_keep_their_words() {
        let words = |error: io::Error| (is_disk_full(&error), explained(&error).to_string());
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let (full, said) = words(kind.into());
            assert!(full && said.contains("is full (") && said.contains("free space"), "{said}");
        }
        let other = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(words(other()), (false, other().to_string()));
        #[cfg(target_os = "linux")]
        for (code, named) in [(28, "the disk is full (No space left"), (122, "share of the disk")] {
            let (full, said) = words(io::Error::from_raw_os_error(code));
            assert!(full && said.starts_with(named) || said.contains(named), "{said}");
        }
    }
}
