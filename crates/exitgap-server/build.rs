//! The site is embedded: built again, the binary is, too.

use std::{fs, io};

fn main() -> io::Result<()> {
    // Where the site was not built there is an empty folder, and the service says so.
    let site = "../../web/dist";
    fs::create_dir_all(site)?;
    println!("cargo::rerun-if-changed={site}");
    Ok(())
}
