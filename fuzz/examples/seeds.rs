//! Writes what each corpus begins with: `seeds <folder>` fills `<folder>/<target>/`.

use std::path::PathBuf;
use std::{env, fs, io};

use exitgap_fuzz::fuzz::TARGETS;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("which folder?"))?;
    for target in TARGETS {
        let place = folder.join(target.name);
        fs::create_dir_all(&place)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(place.join(format!("seed-{number:03}")), seed)?;
        }
    }
    Ok(())
}
