//! The command line of `cargo xtask dist`.

use std::path::PathBuf;

use crate::failure::{Failure, Result};

/// A kind of artefact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artefact {
    Archive,
    Image,
    Debian,
    Npm,
    Wheel,
    Deploy,
    Source,
    Sbom,
    Installer,
}

impl Artefact {
    /// All, in the order in which they are made.
    pub const ALL: [Self; 9] = [
        Self::Source,
        Self::Sbom,
        Self::Deploy,
        Self::Installer,
        Self::Npm,
        Self::Wheel,
        Self::Archive,
        Self::Image,
        Self::Debian,
    ];

    /// The word of `--only`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Image => "image",
            Self::Debian => "deb",
            Self::Npm => "npm",
            Self::Wheel => "wheel",
            Self::Deploy => "deploy",
            Self::Source => "source",
            Self::Sbom => "sbom",
            Self::Installer => "installer",
        }
    }
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the release goes.
    pub out: Option<PathBuf>,
    /// The files of the keys that sign.
    pub keys: Vec<PathBuf>,
    /// The folder of the log of releases, and the file of its key.
    pub log: Option<(PathBuf, PathBuf)>,
    /// The artefacts; empty for all.
    only: Vec<Artefact>,
    /// Whether everything is built twice, compared and tried.
    pub check: bool,
    /// Whether the figures of the check are printed as JSON.
    pub json: bool,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let (mut log, mut log_key) = (None, None);
        let mut rest = arguments.iter();
        while let Some(option) = rest.next() {
            match option.as_str() {
                "--check" => options.check = true,
                "--json" => options.json = true,
                "--out" | "--key" | "--log" | "--log-key" | "--only" => {
                    let value = rest.next().filter(|value| !value.starts_with("--"));
                    let value = value.ok_or_else(|| {
                        Failure::usage(format!("{option} has no value"))
                            .remedy("see `cargo xtask dist --help`")
                    })?;
                    match option.as_str() {
                        "--out" => options.out = Some(value.into()),
                        "--key" => options.keys.push(value.into()),
                        "--log" => log = Some(value.into()),
                        "--log-key" => log_key = Some(value.into()),
                        _ => options.only = artefacts(value)?,
                    }
                }
                other => {
                    return Err(Failure::usage(format!("unexpected `{other}`"))
                        .remedy("the options are --out, --key, --log, --log-key, --only, --check and --json"));
                }
            }
        }
        options.log = match (log, log_key) {
            (Some(folder), Some(key)) => Some((folder, key)),
            (None, None) => None,
            _ => {
                return Err(Failure::usage("--log and --log-key are given together")
                    .remedy("name the log's folder, and the file of the key that signs the log"));
            }
        };
        options.agree()
    }

    /// Refuses options that contradict each other.
    fn agree(self) -> Result<Self> {
        if self.json && !self.check {
            return Err(
                Failure::usage("--json needs --check").remedy("the figures are those of the check")
            );
        }
        if self.check && (self.out.is_some() || self.log.is_some() || !self.keys.is_empty()) {
            return Err(Failure::usage("--check makes releases of its own")
                .remedy("omit --out, --key and --log; without --check they make the release"));
        }
        Ok(self)
    }

    /// Whether an artefact is asked for.
    pub fn wants(&self, artefact: Artefact) -> bool {
        self.only.is_empty() || self.only.contains(&artefact)
    }

    /// The value of `--only`, if it was given.
    pub fn only_words(&self) -> Option<String> {
        let words: Vec<_> = self.only.iter().map(|artefact| artefact.word()).collect();
        (!words.is_empty()).then(|| words.join(","))
    }
}

fn artefacts(list: &str) -> Result<Vec<Artefact>> {
    let known = Artefact::ALL;
    let one = |word: &str| {
        known.into_iter().find(|artefact| artefact.word() == word).ok_or_else(|| {
            let words = known.map(Artefact::word).join(", ");
            Failure::usage(format!("`{word}` is not an artefact"))
                .remedy(format!("the artefacts are {words}"))
        })
    };
    list.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Options> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_read_and_contradictions_are_refused() {
        let all = of("").unwrap();
        assert!(Artefact::ALL.iter().all(|artefact| all.wants(*artefact)));
        let some = of("--only deb,image --key a --key b --out c --log d --log-key e").unwrap();
        assert!(some.wants(Artefact::Debian) && some.wants(Artefact::Image));
        assert!(!some.wants(Artefact::Npm));
        assert_eq!(some.only_words().as_deref(), Some("deb,image"));
        assert_eq!(some.keys, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(some.log, Some(("d".into(), "e".into())));
        for (line, said, remedy) in [
            ("--only rpm", "`rpm` is not an artefact", "deb"),
            ("--out", "--out has no value", "--help"),
            ("--key --check", "--key has no value", "--help"),
            ("--log d", "given together", "the key that signs the log"),
            ("--json", "--json needs --check", "check"),
            ("--check --key a", "releases of its own", "omit"),
            ("now", "unexpected `now`", "--only"),
        ] {
            let failure = of(line).unwrap_err();
            let text = failure.to_string();
            assert_eq!(failure.code(), 2, "{text}");
            assert!(text.contains(said) && text.contains(remedy), "{line}: {text}");
        }
    }
}
