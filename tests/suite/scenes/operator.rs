//! The tasks of an operator: a configuration of one pool, and running `exitgap-server` with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_core::tlog::SignerKey;
use exitgap_tests::binaries;

/// Writes a log's key like `exitgap-server key new`: only its owner may read the file.
pub fn write_key(path: &Path, key: &SignerKey) {
    fs::write(path, key.to_secret_text() + "\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Runs `exitgap-server` in a folder; returns the exit code and the output.
pub fn server(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path("exitgap-server"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A configuration with this store, key and folder, and an unreachable node.
pub fn config(store: &str, key: &str, folder: &str) -> String {
    format!(
        "[store]\npath = \"{store}\"\n[evidence]\nkey_file = \"{key}\"\nfolder = \"{folder}\"\n\
         [[chain]]\nslug = \"anvil\"\nchain_id = 31337\nrpc_urls = [\"http://127.0.0.1:1\"]\n\
         [[oracle]]\nname = \"one\"\nchain = \"anvil\"\nsource = \"fixed\"\nanswer = 1\ndecimals = 0\n\
         [[pool]]\nchain = \"anvil\"\naddress = \"0x00000000000000000000000000000000000000aa\"\n\
         base = \"token0\"\nfee = {{ numerator = 3, denominator = 1000 }}\n\
         token0_usd = [\"one\"]\ntoken1_usd = [\"one\"]\n"
    )
}
