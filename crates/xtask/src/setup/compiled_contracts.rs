//! Contracts that are published only as source, and the tests' own: compiled here with a pinned compiler, into files
//! with pinned checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha512};

use super::fetch::{Aside, first_words, replace};
use super::hex;
use crate::failure::{Context, Failure, Result};

/// Folder in `.fixtures/` for the files.
const FOLDER: &str = "compiled";

/// Folder of the workspace with the tests' own sources.
const OWN: &str = "tests/contracts";

/// The compiler's script.
const SCRIPT: &str = include_str!("compile.js");

/// The files, with the SHA-512 of each.
const FILES: [(&str, &str); 6] = [
    (
        "Pool.json",
        "0c1ad072fc730ab150b9467a3a66dd29dd5c345817ae6039526212d0a844e129\
         162185c3eb2115ade328ccc6228f735117fac21a6a0e58def457c7cfef805b0a",
    ),
    (
        "PoolFactory.json",
        "3b203547e1c85304175d933f373d88ef7db4f33ab38d094098b927d3f8d3531e\
         e82b805b06478fe1fb816c1e3c56907053c1341b8f889b827eb7aaef3641607e",
    ),
    (
        "CLPool.json",
        "15f89170cbf325fbaf87ed971dd970ddf96f2b9a1226888b6e95d577e9e85d0c\
         7764e38a166c81c52c65964968488d758da483e099301a4576a6ae4013641e6b",
    ),
    (
        "CLFactory.json",
        "0ec57ef8c93e03aa714b63e19d870d146336df053156dae974c440829bb5f1f2\
         2775dfee442e126f7d571f11373f45a948f9e1799ac1a0334117dc4786e51223",
    ),
    (
        "TaxedToken.json",
        "bde3a5575776b03418aa4502ef8f1295f0cad4920c98911a423d12c8f95093e5\
         828fb9825180113ea91ca3a491ab07033fdb2f382781e4b24cb249c8d5858716",
    ),
    (
        "Vault.json",
        "0d64710dd9c8ec0d62041438953a9312a9b78cea4d229b3b72157d4dc17fffca\
         1a6718e64457b395657974a2c67561eaf5305404d45be08ea9607be3f9bfedb8",
    ),
];

/// Whether all files exist and are correct.
pub fn complete(folder: &Path) -> bool {
    check(&folder.join(FOLDER)).is_ok()
}

/// Compiles what is missing, from downloaded sources and with the downloaded compiler.
pub fn ensure(folder: &Path) -> Result<()> {
    if complete(folder) {
        return Ok(());
    }
    eprintln!(
        "setup: compiling the pools and factories of Aerodrome v2 and Slipstream, a vault and a token (some seconds)"
    );
    let aside = Aside::new(folder, FOLDER)?;
    let (script, out) = (aside.0.join("compile.js"), aside.0.join("out"));
    fs::write(&script, SCRIPT).context(format!("writing {}", script.display()))?;
    fs::create_dir(&out).context(format!("creating {}", out.display()))?;
    let output = Command::new("node")
        .arg(&script)
        .arg(folder)
        .arg(&out)
        .arg(folder.with_file_name(OWN))
        .output()
        .map_err(|error| Failure::new(format!("`node` could not be started: {error}")))?;
    if !output.status.success() {
        let said = first_words(&output.stderr);
        return Err(Failure::new(format!("compiling contracts failed:\n    {said}"))
            .remedy(
                "delete .fixtures/solc, .fixtures/solc-0.7.6, .fixtures/openzeppelin-contracts and .fixtures/aerodrome-sources and run setup again",
            ));
    }
    check(&out)?;
    replace(&out, &folder.join(FOLDER))
}

fn check(place: &Path) -> Result<()> {
    for (name, expected) in FILES {
        let path: PathBuf = place.join(name);
        let bytes = fs::read(&path).context(format!("reading {}", path.display()))?;
        let found = hex(&Sha512::digest(&bytes));
        if found != expected {
            return Err(Failure::new(format!(
                "{name} is not what these sources compile to\n    expected sha512 {expected}\n    \
                 found    sha512 {found}"
            ))
            .remedy("delete the .fixtures folder and run setup again"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_absent_or_another_is_not_taken() {
        let folder = std::env::temp_dir().join(format!("exitgap-compiled-{}", std::process::id()));
        let place = folder.join(FOLDER);
        fs::create_dir_all(&place).unwrap();
        let absent = check(&place).unwrap_err().to_string();
        assert!(absent.contains("Pool.json"), "{absent}");
        fs::write(place.join("Pool.json"), "{}").unwrap();
        let other = check(&place).unwrap_err().to_string();
        assert!(other.contains("is not what these sources compile to"), "{other}");
        assert!(!complete(&folder));
        fs::remove_dir_all(folder).unwrap();
    }
}
