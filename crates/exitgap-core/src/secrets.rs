//! Which permissions a file that holds a secret may have. Every program refuses other permissions in the
//! same words. Reading them is left to the caller.

/// The permission bits of everyone but the owner.
const OTHERS: u32 = 0o077;

/// Why a file that holds a secret is refused.
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
    /// Refuses permissions, as Unix counts them, that let anyone but the owner read, write or run a file.
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
