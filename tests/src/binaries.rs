//! The paths of the workspace's built binaries.

use std::path::PathBuf;

/// The built binary `name` of this workspace, in the same folder as the calling test.
///
/// # Panics
/// If it was not built; `cargo xtask test` builds it first.
pub fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().find(|folder| folder.join("deps").is_dir());
    let binary =
        folder.map(|folder| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION));
    match binary {
        Some(binary) if binary.is_file() => binary,
        _ => panic!(
            "{name} is not built: run `cargo build --workspace --bins` or `cargo xtask test`"
        ),
    }
}
