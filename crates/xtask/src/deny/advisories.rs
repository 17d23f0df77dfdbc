//! The committed snapshot of advisories: which packages of our lock files have a known vulnerability, and in which versions.
//!
//! The snapshot has facts only. It is turned into a database of the form that `cargo deny` reads, so that the check needs
//! no network and gives the same result on every machine.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Context, Failure, Result};

/// The snapshot.
pub const FILE: &str = "crates/xtask/src/deny/advisories.tsv";

/// The folder that `cargo deny` looks for in its folder of databases; it follows from the database's address.
pub const DATABASE: &str = "advisory-db-3157b0e258782691";

/// The kinds of advisories, as the snapshot names them.
const KINDS: [&str; 4] = ["vulnerability", "unsound", "unmaintained", "notice"];

/// An advisory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Advisory {
    id: String,
    package: String,
    date: String,
    kind: String,
    patched: Vec<String>,
    unaffected: Vec<String>,
    title: String,
}

/// The snapshot's advisories, and the comment lines before them.
pub fn read(text: &str) -> Result<(Vec<&str>, Vec<Advisory>)> {
    let (notes, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let advisories = rows.into_iter().map(Advisory::from_row).collect::<Result<Vec<_>>>()?;
    if !advisories.is_sorted_by(|a, b| a.id < b.id) {
        return Err(Failure::new(format!(
            "{FILE}: the rows are not in the order of their ids, each id once"
        )));
    }
    Ok((notes, advisories))
}

/// The snapshot's text.
pub fn write(notes: &[String], advisories: &[Advisory]) -> String {
    let mut text = String::new();
    for note in notes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {note}");
    }
    let _ = writeln!(text, "# id\tpackage\tdate\tkind\tpatched\tunaffected\ttitle");
    for Advisory { id, package, date, kind, patched, unaffected, title } in advisories {
        let (patched, unaffected) = (patched.join("; "), unaffected.join("; "));
        let _ = writeln!(text, "{id}\t{package}\t{date}\t{kind}\t{patched}\t{unaffected}\t{title}");
    }
    text
}

/// Makes the database that `cargo deny` reads, in `folder`.
pub fn make_database(folder: &Path, advisories: &[Advisory]) -> Result<()> {
    let database = folder.join(DATABASE);
    if database.exists() {
        fs::remove_dir_all(&database).context(format!("removing {}", database.display()))?;
    }
    for advisory in advisories {
        let of_package = database.join("crates").join(&advisory.package);
        fs::create_dir_all(&of_package).context(format!("creating {}", of_package.display()))?;
        let file = of_package.join(format!("{}.md", advisory.id));
        fs::write(&file, advisory.document()).context(format!("writing {}", file.display()))?;
    }
    let identity = ["-c", "user.name=exitgap", "-c", "user.email=none@exitgap.invalid"];
    git(&database, &["init", "--quiet", "."])?;
    git(&database, &["add", "--all"])?;
    let commit = ["-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "advisories"];
    git(&database, &[identity.as_slice(), &commit].concat())?;
    git(&database, &["update-ref", "refs/remotes/origin/HEAD", "HEAD"])
}

/// The advisories for these packages in a clone of the `RustSec` database.
pub fn collect(clone: &Path, packages: &BTreeSet<String>) -> Result<Vec<Advisory>> {
    let crates = clone.join("crates");
    if !crates.is_dir() {
        return Err(Failure::new(format!("{} has no folder `crates`", clone.display()))
            .remedy("name a clone of https://github.com/RustSec/advisory-db"));
    }
    let mut found = Vec::new();
    for package in packages {
        let Ok(files) = fs::read_dir(crates.join(package)) else { continue };
        for entry in files.flatten() {
            let path = entry.path();
            let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
            if let Some(advisory) = Advisory::from_document(&text)
                .map_err(|why| Failure::new(format!("{}: {why}", path.display())))?
            {
                found.push(advisory);
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Advisory {
    fn from_row(row: &str) -> Result<Self> {
        let wrong = || Failure::new(format!("{FILE}: `{row}` is not an advisory"));
        let [id, package, date, kind, patched, unaffected, title] =
            row.split('\t').collect::<Vec<_>>()[..]
        else {
            return Err(wrong());
        };
        let is_valid = id.starts_with("RUSTSEC-")
            && !package.is_empty()
            && !title.is_empty()
            && KINDS.contains(&kind);
        if !is_valid {
            return Err(wrong());
        }
        let list = |text: &str| {
            text.split("; ").filter(|one| !one.is_empty()).map(str::to_owned).collect()
        };
        Ok(Self {
            id: id.to_owned(),
            package: package.to_owned(),
            date: date.to_owned(),
            kind: kind.to_owned(),
            patched: list(patched),
            unaffected: list(unaffected),
            title: title.to_owned(),
        })
    }

    /// The advisory in a document of the database; `None` if it was withdrawn.
    fn from_document(text: &str) -> std::result::Result<Option<Self>, String> {
        let (front, rest) = text
            .strip_prefix("```toml\n")
            .and_then(|text| text.split_once("\n```"))
            .ok_or("it does not begin with a block of TOML")?;
        let value = |name: &str| {
            let line = front
                .lines()
                .find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='));
            line.map(|line| line.trim().trim_matches('"').to_owned())
        };
        if value("withdrawn").is_some() {
            return Ok(None);
        }
        let need = |name: &str| value(name).ok_or(format!("it has no `{name}`"));
        let title =
            rest.lines().find_map(|line| line.strip_prefix("# ")).ok_or("it has no title")?;
        Ok(Some(Self {
            id: need("id")?,
            package: need("package")?,
            date: need("date")?,
            kind: value("informational").unwrap_or_else(|| KINDS[0].to_owned()),
            patched: quoted_list(front, "patched"),
            unaffected: quoted_list(front, "unaffected"),
            title: title.trim().replace('\t', " "),
        }))
    }

    /// The document of the database.
    fn document(&self) -> String {
        let Self { id, package, date, kind, patched, unaffected, title } = self;
        let informational =
            if kind == KINDS[0] { String::new() } else { format!("informational = \"{kind}\"\n") };
        format!(
            "```toml\n[advisory]\nid = \"{id}\"\npackage = \"{package}\"\ndate = \"{date}\"\n{informational}\n\
             [versions]\npatched = {patched:?}\nunaffected = {unaffected:?}\n```\n\n# {title}\n"
        )
    }
}

/// The texts of an array, which may span several lines.
fn quoted_list(toml: &str, name: &str) -> Vec<String> {
    let begin = toml.lines().position(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
    });
    let lines: Vec<&str> = toml.lines().skip(begin.unwrap_or(usize::MAX)).collect();
    let text = lines.join("\n");
    let array = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let texts = array.map_or("", |(inside, _)| inside).split('"').skip(1).step_by(2);
    texts.map(str::to_owned).collect()
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new("git").current_dir(folder).args(arguments).output();
    let output = output.context("starting git")?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("git {}: {}", arguments.join(" "), words.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const DOCUMENT: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2030-0001\"\npackage = \"thing\"\ndate = \"2030-01-02\"\n\
                            aliases = [\"CVE-2030-1\"]\ninformational = \"unsound\"\n\n[versions]\npatched = [\n  \">= 1.2, < 2\",\n  \
                            \">= 2.1\",\n]\n```\n\n# A `title`\n\nText [with a link].\n";

    #[test]
    fn a_document_of_the_database_becomes_a_row_and_a_document_again() {
        let advisory = Advisory::from_document(DOCUMENT).unwrap().unwrap();
        let text = write(&["Note.".to_owned()], std::slice::from_ref(&advisory));
        let row =
            "RUSTSEC-2030-0001\tthing\t2030-01-02\tunsound\t>= 1.2, < 2; >= 2.1\t\tA `title`\n";
        assert!(text.starts_with("# Note.\n") && text.ends_with(row), "{text}");
        let (notes, read) = read(&text).unwrap();
        assert_eq!((notes.len(), read), (2, vec![advisory.clone()]));
        assert_eq!(Advisory::from_document(&advisory.document()).unwrap().unwrap(), advisory);
        let withdrawn =
            DOCUMENT.replace("informational = \"unsound\"", "withdrawn = \"2031-01-01\"");
        assert_eq!(Advisory::from_document(&withdrawn).unwrap(), None);
        for wrong in ["", "```toml\nid = \"x\"\n```\n# T\n", &DOCUMENT.replace("# A", "A")] {
            assert!(Advisory::from_document(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wrong_rows_and_a_wrong_order_are_refused() {
        let (a, b) =
            ("RUSTSEC-2030-0001\tx\td\tnotice\t\t\tt", "RUSTSEC-2030-0002\tx\td\tnotice\t\t\tt");
        assert_eq!(read(&format!("{a}\n{b}\n")).unwrap().1.len(), 2);
        for wrong in [
            format!("{b}\n{a}\n"),
            format!("{a}\n{a}\n"),
            "x".to_owned(),
            a.replace("notice", "rumour"),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_clone_gives_the_advisories_of_our_packages_only() {
        let clone = std::env::temp_dir().join(format!("exitgap-advisories-{}", std::process::id()));
        for package in ["thing", "other"] {
            fs::create_dir_all(clone.join("crates").join(package)).unwrap();
            fs::write(clone.join("crates").join(package).join("RUSTSEC-2030-0001.md"), DOCUMENT)
                .unwrap();
        }
        let ours = BTreeSet::from(["thing".to_owned(), "absent".to_owned()]);
        assert_eq!(collect(&clone, &ours).unwrap().len(), 1);
        assert!(
            collect(&clone.join("crates"), &ours)
                .unwrap_err()
                .to_string()
                .contains("has no folder `crates`")
        );
        fs::remove_dir_all(clone).unwrap();
    }

    #[test]
    fn the_committed_snapshot_is_read() {
        let text = fs::read_to_string(workspace::root().join(FILE)).unwrap();
        assert!(read(&text).unwrap().1.len() > 20);
    }
}
