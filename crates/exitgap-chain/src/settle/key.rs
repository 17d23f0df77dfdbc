//! The key that pays fees: a file that only its owner can access, and signatures made with it.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use alloy::primitives::{Address as EvmAddress, B256, Signature, hex};
use exitgap_core::ids::Address;
use exitgap_core::secrets::LooseMode;
use k256::ecdsa::{Error, SigningKey};

use super::KeyFileError;
use crate::abi::own;

/// A key on this machine. It holds a small amount of the chain's coin for fees, and never receives payments.
#[derive(Clone)]
pub struct HotKey(SigningKey);

impl core::fmt::Debug for HotKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HotKey({})", self.address())
    }
}

impl HotKey {
    /// Reads `0x` and 64 hex digits from a file that only its owner may read.
    pub fn from_file(path: &Path) -> Result<Self, KeyFileError> {
        let file_error = |source| KeyFileError::File { path: path.to_owned(), source };
        let mut file = fs::File::open(path).map_err(file_error)?;
        // The permissions of the opened file, because its path could now name another file.
        let mode = file.metadata().map_err(file_error)?.permissions().mode();
        LooseMode::check(mode)
            .map_err(|loose| KeyFileError::LooseMode { path: path.to_owned(), loose })?;
        let mut text = String::new();
        (&mut file).take(256).read_to_string(&mut text).map_err(file_error)?;
        let digits = text.trim_end().strip_prefix("0x");
        let digits = digits.filter(|digits| digits.len() == 64);
        let key = digits.and_then(|digits| hex::decode_to_array::<_, 32>(digits).ok());
        let key = key.and_then(|bytes| SigningKey::from_slice(&bytes).ok());
        key.map(Self).ok_or_else(|| KeyFileError::NotAKey { path: path.to_owned() })
    }

    /// The account of the key, which pays the fees.
    pub fn address(&self) -> Address {
        own(EvmAddress::from_private_key(&self.0))
    }

    /// Signs a hash. This can fail only for hashes that are infeasible to find.
    pub(super) fn sign(&self, hash: B256) -> Result<Signature, Error> {
        self.0.sign_prehash_recoverable(hash.as_slice()).map(Signature::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_may_read_is_refused_and_one_is_read_as_it_is_written() {
        let folder = std::env::temp_dir().join(format!("exitgap-hot-key-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("key");
        let write = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            HotKey::from_file(&path)
        };
        let text = format!("0x{}\n", "11".repeat(32));
        for mode in [0o644, 0o640, 0o602] {
            let refused = write(&text, mode).unwrap_err();
            assert!(matches!(refused, KeyFileError::LooseMode { loose, .. } if loose.mode == mode));
        }
        let key = write(&text, 0o600).unwrap();
        assert_eq!(key.address().to_string(), "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a");
        assert!(!format!("{key:?}").contains("1111111111"));
        for wrong in
            ["", "0x11", &"11".repeat(32), &format!("0x{}", "00".repeat(32)), &"g".repeat(300)]
        {
            assert!(matches!(write(wrong, 0o600), Err(KeyFileError::NotAKey { .. })), "{wrong:?}");
        }
        fs::remove_dir_all(&folder).unwrap();
        assert!(matches!(HotKey::from_file(&path), Err(KeyFileError::File { .. })));
    }
}
