//! Signs the list of a release's files, as a signed note of C2SP.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use exitgap_tlog::SignerKey;

use crate::failure::{Context, Failure, Result};

/// The largest key file that is read.
const MAX_KEY_BYTES: u64 = 1024;

/// Reads a key that `exitgap-server key new` wrote.
pub fn read_key(path: &Path) -> Result<SignerKey> {
    let shown = path.display();
    let mut file =
        File::open(path).context(format!("reading the key {shown}")).map_err(|failure| {
            failure.remedy(
                "make one with `exitgap-server key new --out FILE --name <your domain>/releases`",
            )
        })?;
    let metadata = file.metadata().context(format!("reading {shown}"))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Failure::new(format!("other users may use the key {shown} (mode {mode:o})"))
            .remedy(format!("chmod 600 {shown}")));
    }
    let mut text = String::new();
    let read = (&mut file).take(MAX_KEY_BYTES).read_to_string(&mut text);
    read.context(format!("reading {shown}"))?;
    text.trim_end().parse().map_err(|error| Failure::new(format!("{shown}: {error}")))
}

/// A new key that no one keeps.
pub fn throwaway_key(name: &str) -> Result<SignerKey> {
    let mut seed = [0; 32];
    let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut seed));
    random.context("reading random numbers from /dev/urandom")?;
    SignerKey::from_seed(name, seed).map_err(|error| Failure::new(format!("making a key: {error}")))
}

/// Writes a key, so that only its owner can read it.
pub fn write_key(path: &Path, key: &SignerKey) -> Result<()> {
    let writing = || format!("writing {}", path.display());
    File::create(path).context(writing())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).context(writing())?;
    fs::write(path, key.to_secret_text() + "\n").context(writing())
}

/// A note with the signatures of all keys.
pub fn sign(text: &str, keys: &[SignerKey]) -> Result<String> {
    let mut note: Option<String> = None;
    for key in keys {
        let signed = match note {
            None => key.sign(text),
            Some(note) => key.sign_beside(&note),
        };
        note = Some(signed.map_err(|error| Failure::new(format!("signing the release: {error}")))?);
    }
    note.ok_or_else(|| Failure::new("the release has no key"))
}

#[cfg(test)]
mod tests {
    use exitgap_tlog::Note;

    use super::*;

    #[test]
    fn a_note_has_the_signature_of_every_key() {
        let keys = [
            throwaway_key("example.org/releases").unwrap(),
            throwaway_key("example.org/releases").unwrap(),
        ];
        assert_ne!(keys[0].to_secret_text(), keys[1].to_secret_text());
        let note = sign("text\n", &keys).unwrap();
        let signers = Note::parse(&note).unwrap();
        for key in &keys {
            assert_eq!(signers.signers(&[key.verifier()]).trusted.len(), 1);
        }
        assert!(sign("text\n", &[]).is_err());
    }

    #[test]
    fn a_key_is_read_as_written_and_refused_where_others_may_read_it() {
        let path = std::env::temp_dir().join(format!("exitgap-release-{}.key", std::process::id()));
        let key = throwaway_key("example.org/releases").unwrap();
        write_key(&path, &key).unwrap();
        assert_eq!(read_key(&path).unwrap().to_secret_text(), key.to_secret_text());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = read_key(&path).unwrap_err().to_string();
        assert!(
            refused.contains("other users may use") && refused.contains("chmod 600"),
            "{refused}"
        );
        fs::remove_file(&path).unwrap();
        let absent = read_key(&path).unwrap_err().to_string();
        assert!(absent.contains("exitgap-server key new"), "{absent}");
    }
}
