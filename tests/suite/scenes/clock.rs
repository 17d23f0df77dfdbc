//! A clock of its own for a process, by Debian's `faketime`.

use std::fs;
use std::path::{Path, PathBuf};

/// The library, which changes the time that a process sees.
pub fn faketime() -> PathBuf {
    let systems = fs::read_dir("/usr/lib").unwrap().flatten();
    let mut libraries = systems.map(|of| of.path().join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists()).expect("Debian's faketime is installed")
}

/// The environment of a process whose clock differs from the machine's as this file says, such as `-1h`. The monotonic
/// clock stays the machine's.
pub fn set_by<'a>(file: &'a Path, library: &'a Path) -> [(&'static str, &'a Path); 4] {
    [
        ("LD_PRELOAD", library),
        ("FAKETIME_TIMESTAMP_FILE", file),
        ("FAKETIME_NO_CACHE", Path::new("1")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", Path::new("1")),
    ]
}
