//! Developers' commands of exitgap: `cargo xtask <command>`.

mod failure;
mod setup;

fn main() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Err(e) = setup::ensure(&root) {
        eprintln!("{e}");
        std::process::exit(e.code().into());
    }
}
