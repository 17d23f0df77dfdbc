//! A store on a server with a folder, created once for all processes of one program's tests.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Cluster, RECORDER, TEMPLATE, hash, home};

/// The store's database.
const DATABASE: &str = "kept";

/// The saved store, of which each test starts a copy.
pub struct Kept {
    place: PathBuf,
}

impl Kept {
    /// What this program has saved under a name. If there is none yet, `make` creates it in a store with the given URL,
    /// and in a folder.
    pub fn of(name: &str, make: impl FnOnce(&Path, &Path)) -> io::Result<Self> {
        let all = home()?;
        let lock = File::create(all.join(format!("{name}.lock")))?;
        lock.lock()?;
        let place = all.join(format!("{name}-{:016x}", hash(this_program()?.as_bytes())));
        if place.exists() {
            return Ok(Self { place });
        }
        for old in fs::read_dir(&all)? {
            let old = old?;
            let old_name = old.file_name().into_string().unwrap_or_default();
            if old_name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')) {
                fs::remove_dir_all(old.path())?;
            }
        }
        let aside = all.join(format!("{name}-aside"));
        fs::create_dir_all(aside.join("home"))?;
        let mut cluster = Cluster::start(&["fsync=off"])?;
        cluster.sql("postgres", &format!("CREATE DATABASE {DATABASE} TEMPLATE {TEMPLATE}"));
        make(&cluster.url(RECORDER, DATABASE), &aside.join("home"));
        cluster.stop()?;
        cluster.copy_data_to(&aside.join("data"))?;
        fs::rename(aside, &place)?;
        Ok(Self { place })
    }

    /// Starts a copy of the cluster.
    pub fn start(&self) -> io::Result<Cluster> {
        let mut cluster = Cluster::copy_of(&self.place.join("data"), &["fsync=off"])?;
        cluster.start_again()?;
        Ok(cluster)
    }

    /// The store's database in it.
    pub fn database(&self) -> &'static str {
        DATABASE
    }

    /// The folder, which must not be changed.
    pub fn home(&self) -> PathBuf {
        self.place.join("home")
    }
}

/// An identifier of this build.
fn this_program() -> io::Result<String> {
    let program = std::env::current_exe()?;
    let built = fs::metadata(&program)?.modified()?;
    let built = built.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok(format!("{} {}", program.display(), built.as_nanos()))
}
