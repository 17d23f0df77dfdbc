//! The database files of a configuration, checked for damaged pages before any of them is used. A server checks its pages by
//! itself, where its checksums are on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exitgap_store::{PagesChecked, check_pages, is_server};

use super::CliError;
use crate::config::Config;

/// How long a start checks the pages of all its database files together.
const DATABASES_WITHIN: Duration = Duration::from_secs(10);

/// What a database file holds, and with that what its operator can do about a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Series,
    Payments,
    Alerts,
    Proofs,
    Witness,
}

impl Content {
    /// What to do where the file is damaged.
    fn remedy(self) -> &'static str {
        match self {
            Self::Series => {
                "Replace it with a copy made by `exitgap-server backup`, or move it away and run `exitgap-server \
                 restore` to rebuild it from the published folder"
            }
            Self::Payments => {
                "Put back your newest copy of this file. If there is none, move it away: a new file is created at the start, \
                 but clients that paid before can no longer get their answers"
            }
            Self::Alerts => {
                "Put back your newest copy of this file. If there is none, move it away: a new file is created at the start, \
                 and owners must create their rules again"
            }
            Self::Proofs => {
                "Move it away: a new file is created at the start. Slots lose their state proofs, except for those \
                 that are published in the log's folder"
            }
            Self::Witness => {
                "Move it away together with the witness's key, and create a new key with `exitgap-server key witness`. \
                 Do not put back an old copy: the witness could cosign a different history"
            }
        }
    }

    /// How to check a file that is too large for a start.
    fn whole_check(self) -> &'static str {
        match self {
            Self::Series => "`exitgap-server fsck`",
            _ => "`PRAGMA integrity_check` in the shell of SQLite",
        }
    }
}

/// A database of a configuration, if it is in a file.
pub type DatabaseFile<'a> = (Content, &'a Path);

/// Refuses damaged database files, of all that this configuration uses.
pub fn check_databases(config: &Config) -> Result<(), CliError> {
    check_files(&databases_of(config), DATABASES_WITHIN)
}

/// Refuses one damaged database file, for a process that uses no other.
pub fn check_database(content: Content, path: &Path) -> Result<(), CliError> {
    check_files(&[(content, path)], DATABASES_WITHIN)
}

fn databases_of(config: &Config) -> Vec<DatabaseFile<'_>> {
    let Config { store, payments, alerts, proofs, witness, .. } = config;
    let is_witness = !witness.logs.is_empty() || witness.log_list.is_some();
    let used = [
        (true, Content::Series, &store.path),
        (payments.enabled, Content::Payments, &payments.database),
        (alerts.enabled, Content::Alerts, &alerts.database),
        (proofs.keep, Content::Proofs, &proofs.database),
        (is_witness, Content::Witness, &witness.database),
    ];
    let used = used.into_iter().filter(|(is_used, ..)| *is_used);
    used.map(|(_, content, path)| (content, path.as_path())).collect()
}

/// The files among these databases that are there. A large file uses up the time that is left, so it comes last.
fn smallest_first<'a>(databases: &[DatabaseFile<'a>]) -> Vec<DatabaseFile<'a>> {
    let files = databases.iter().filter(|(_, path)| !is_server(path));
    let mut files: Vec<(u64, DatabaseFile<'_>)> =
        files.filter_map(|file| Some((std::fs::metadata(file.1).ok()?.len(), *file))).collect();
    files.sort_by_key(|(bytes, _)| *bytes);
    files.into_iter().map(|(_, file)| file).collect()
}

fn check_files(databases: &[DatabaseFile<'_>], within: Duration) -> Result<(), CliError> {
    let deadline = Instant::now() + within;
    for (content, path) in smallest_first(databases) {
        match check_pages(path, deadline.saturating_duration_since(Instant::now()))? {
            PagesChecked::Whole => {}
            PagesChecked::CutShort => tracing::warn!(
                "{} was only partly checked for damaged pages, because a start takes at most {} s for all databases; \
                 check the whole file with {}",
                path.display(),
                within.as_secs(),
                content.whole_check()
            ),
            PagesChecked::Damaged(what) => {
                let (path, remedy) = (PathBuf::from(path), content.remedy());
                return Err(CliError::DamagedDatabase { path, what, remedy });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use exitgap_store::alerts::Alerts;
    use exitgap_store::payments::Payments;
    use exitgap_store::proofs::Proofs;
    use exitgap_store::witness::WitnessState;
    use tempfile::TempDir;

    use super::*;

    const PAGE_BYTES: usize = 4096;

    /// A configuration that uses every database, and the files of all but the store.
    fn configured() -> (TempDir, Config) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let text = format!(
            "[store]\npath = {:?}\n[payments]\nenabled = true\ndatabase = {:?}\n[alerts]\nenabled = true\n\
             database = {:?}\n[proofs]\ndatabase = {:?}\n[witness]\nlogs = [\"a\"]\ndatabase = {:?}\n",
            path("series.db"),
            path("payments.db"),
            path("alerts.db"),
            path("proofs.db"),
            path("witness.db")
        );
        let config: Config = toml::from_str(&text).unwrap();
        drop(Payments::open(&config.payments.database).unwrap());
        drop(Alerts::open(&config.alerts.database).unwrap());
        drop(Proofs::open(&config.proofs.database).unwrap());
        drop(WitnessState::open(&config.witness.database).unwrap());
        (folder, config)
    }

    /// Fills the file's last page with bytes that are not a page.
    fn damage(path: &Path) -> Vec<u8> {
        let sound = fs::read(path).unwrap();
        let mut bytes = sound.clone();
        let last = bytes.len() - PAGE_BYTES;
        assert!(last >= PAGE_BYTES, "{} has one page only", path.display());
        bytes[last..].fill(0x5a);
        fs::write(path, bytes).unwrap();
        sound
    }

    #[test]
    fn every_database_is_checked_and_each_has_its_own_remedy() {
        let (_folder, config) = configured();
        check_databases(&config).unwrap();
        // A file of SQLite that stands for the store: what a page holds does not matter here.
        fs::copy(&config.proofs.database, &config.store.path).unwrap();
        check_databases(&config).unwrap();
        let cases = [
            (&config.store.path, "exitgap-server restore"),
            (&config.payments.database, "clients that paid"),
            (&config.alerts.database, "create their rules again"),
            (&config.proofs.database, "lose their state proofs"),
            (&config.witness.database, "exitgap-server key witness"),
        ];
        for (path, remedy) in cases {
            let sound = damage(path);
            let refused = check_databases(&config).unwrap_err().to_string();
            let begins = format!("{} is damaged: ", path.display());
            assert!(refused.starts_with(&begins) && refused.contains(remedy), "{refused}");
            let of_others = cases.iter().filter(|(other, _)| *other != path);
            for (_, other) in of_others {
                assert!(!refused.contains(other), "{refused}");
            }
            fs::write(path, sound).unwrap();
        }
        check_databases(&config).unwrap();
    }

    #[test]
    fn a_database_that_is_not_used_or_not_there_is_not_checked() {
        let (_folder, mut config) = configured();
        damage(&config.payments.database);
        damage(&config.witness.database);
        config.payments.enabled = false;
        config.witness.logs.clear();
        fs::remove_file(&config.alerts.database).unwrap();
        check_databases(&config).unwrap();
        check_database(Content::Witness, &config.witness.database).unwrap_err();
    }

    #[test]
    fn the_smallest_file_is_checked_first() {
        let (_folder, config) = configured();
        for (path, pages) in [
            (&config.store.path, 900),
            (&config.payments.database, 700),
            (&config.alerts.database, 800),
            (&config.proofs.database, 500),
            (&config.witness.database, 600),
        ] {
            let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path);
            file.unwrap().set_len(pages * PAGE_BYTES as u64).unwrap();
        }
        let order = smallest_first(&databases_of(&config)).into_iter().map(|(content, _)| content);
        let expected = [
            Content::Proofs,
            Content::Witness,
            Content::Payments,
            Content::Alerts,
            Content::Series,
        ];
        assert!(order.eq(expected));
    }

    #[test]
    fn a_file_whose_first_page_is_damaged_has_its_remedy_too() {
        let (_folder, config) = configured();
        for begins in [0, 100] {
            let path = &config.witness.database;
            let sound = fs::read(path).unwrap();
            let mut bytes = sound.clone();
            bytes[begins..PAGE_BYTES].fill(0x5a);
            fs::write(path, bytes).unwrap();
            let refused = check_databases(&config).unwrap_err().to_string();
            assert!(refused.contains("exitgap-server key witness"), "{begins}: {refused}");
            fs::write(path, sound).unwrap();
        }
    }
}
