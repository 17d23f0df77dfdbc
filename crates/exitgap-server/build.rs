//! The site is embedded in a release: built again, the release is, too. A debug build reads plain pages when it starts.

use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none() {
        // Where the site was not built there is an empty folder, and the service says so.
        let site = "../../web/dist";
        fs::create_dir_all(site)?;
        println!("cargo::rerun-if-changed={site}");
    }
    Ok(())
}
