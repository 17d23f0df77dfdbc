//! The permissions that a file with a secret may have. All programs use this check and its error message. The caller
//! reads the permissions.

/// The permission bits of everyone except the owner.
const OTHERS: u32 = 0o077;

/// Why a file with a secret is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this file holds a secret, and its mode {mode:03o} lets others than its owner use it; set mode 600, and replace \
     the secret if others could have read it"
)]
pub struct LooseMode {
    /// Its permission bits.
    pub mode: u32,
}

impl LooseMode {
    /// Refuses Unix permissions that let anyone except the owner read, write or execute the file.
    pub fn check(mode: u32) -> Result<(), Self> {
        let mode = mode & 0o777;
        if mode & OTHERS == 0 { Ok(()) } else { Err(Self { mode }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_may_use_a_file_that_holds_a_secret() {
        for mode in [0o600, 0o400, 0o700, 0o100_600] {
            assert_eq!(LooseMode::check(mode), Ok(()), "{mode:o}");
        }
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o601, 0o100_644] {
            let refused = LooseMode::check(mode).unwrap_err();
            assert_eq!(refused.mode, mode & 0o777, "{mode:o}");
            assert!(refused.to_string().contains("set mode 600"), "{refused}");
        }
    }
}
