//! The site is embedded: built again, a release is, too. A debug build reads it as it is asked for, and never waits for it.

use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Where the site was not built there is an empty folder, and the service says so.
    let site = "../../web/dist";
    fs::create_dir_all(site)?;
    let embedded = env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none();
    println!("cargo::rerun-if-changed={}", if embedded { site } else { "build.rs" });
    Ok(())
}
