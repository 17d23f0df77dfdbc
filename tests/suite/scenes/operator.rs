//! What an operator does: a configuration of one pool, and `exitgap-server` run with it.

use std::path::Path;
use std::process::{Command, Output};

use exitgap_tests::binaries;

/// Runs `exitgap-server` in a folder: its exit code, and what it printed.
pub fn server(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path("exitgap-server"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A configuration with this store, key and folder, and a node that nothing answers at.
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
