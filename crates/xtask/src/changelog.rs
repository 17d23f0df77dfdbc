//! `cargo xtask changelog`: writes the titles of commits into `CHANGELOG.md`, grouped by area.
//!
//! A generated section names the commits that it covers, so that anyone can generate it again. New commits do not make
//! it stale: they belong to the next section.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::check::Diagnostic;
use crate::failure::{Context, Failure, Result};

/// The output of `cargo xtask changelog --help`.
pub const HELP: &str = "\
Write the titles of commits into CHANGELOG.md, grouped by area, the newest first.

Usage: cargo xtask changelog [--release VERSION]

  --release VERSION  close the section `Unreleased` under this version

The first section of the file covers the commits from the end of the section below it up to the newest commit. Only
titles of the form `area: what changed` are taken, without the areas that no user meets (tests, benches, developers'
commands). Earlier sections are not changed. `cargo xtask check` fails if a section is not what its commits give, or if
commits between two sections are missing; commits that are newer than the file are not missing.";

const FILE: &str = "CHANGELOG.md";

/// The heading of the section that is not closed.
const OPEN: &str = "Unreleased";

/// The headings, each with the areas below it.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Recorder", &["recorder", "chain", "nodes"]),
    (
        "Service",
        &[
            "api",
            "ops",
            "server",
            "http",
            "mcp",
            "alerts",
            "payments",
            "replica",
            "witness",
            "accuracy",
            "analytics",
        ],
    ),
    (
        "Verification",
        &[
            "verify",
            "evidence",
            "state proofs",
            "audit",
            "copy",
            "log folder",
            "tlog",
            "core",
            "math",
            "exit",
        ],
    ),
    ("Command line", &["cli"]),
    ("Store", &["store"]),
    ("Pages and packages", &["web", "pkg", "npm", "python", "py", "wasm", "client", "pay"]),
    ("Installation and documents", &["deploy", "install", "dist", "docs", "examples"]),
];

/// The heading of areas that no group names.
const OTHER: &str = "Other";

/// Areas that no user meets.
const INTERNAL: [&str; 22] = [
    "bench",
    "build",
    "changelog",
    "check",
    "checks",
    "ci",
    "code",
    "defects",
    "faults",
    "fuzz",
    "harness",
    "licences",
    "names",
    "peers",
    "reality",
    "release",
    "review",
    "tests",
    "workspace",
    "xtask",
    "lints",
    "format",
];

/// A generated section, and the commits that it covers: those after the first, up to the last.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    title: String,
    from: String,
    to: String,
    body: String,
}

/// The file: the text before the generated sections, these, and the hand-written text after them.
#[derive(Debug, PartialEq, Eq)]
struct Changelog {
    head: String,
    sections: Vec<Section>,
    tail: String,
}

/// Writes the first section again, up to the newest commit.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let release = match arguments {
        [] => None,
        [option, version] if option == "--release" && is_version(version) => Some(version.as_str()),
        other => {
            return Err(Failure::usage(format!("unexpected `{}`", other.join(" ")))
                .remedy("the only option is --release VERSION, for example --release 0.2.0"));
        }
    };
    let path = root.join(FILE);
    let text = std::fs::read_to_string(&path).context(format!("reading {FILE}"))?;
    let mut file = Changelog::parse(&text).map_err(|why| Failure::new(format!("{FILE}: {why}")))?;
    let newest = git(root, &["rev-parse", "--short=8", "HEAD"])?.trim().to_owned();
    let from = file.begin_open();
    let titles = titles(root, &from, &newest)?;
    let date =
        git(root, &["show", "--no-patch", "--format=%cd", "--date=format:%Y-%m-%d", "HEAD"])?;
    let title =
        release.map_or_else(|| OPEN.to_owned(), |version| format!("{version} ({})", date.trim()));
    file.sections.insert(0, Section { title, from, to: newest, body: grouped(&titles) });
    std::fs::write(&path, file.text()).context(format!("writing {FILE}"))?;
    println!("{FILE}");
    Ok(())
}

/// What is wrong with the committed file; a warning if this copy of the repository lacks the commits.
pub fn differences(root: &Path) -> Result<Vec<Diagnostic>> {
    let text = std::fs::read_to_string(root.join(FILE)).context(format!("reading {FILE}"))?;
    let file = match Changelog::parse(&text) {
        Ok(file) => file,
        Err(why) => return Ok(vec![Diagnostic::error(FILE, why)]),
    };
    let mut findings = gaps(&file.sections);
    let shallow = git(root, &["rev-parse", "--is-shallow-repository"])?.trim() == "true";
    for section in &file.sections {
        let found = titles(root, &section.from, &section.to);
        match found {
            Ok(titles) => findings.extend(stale(section, &titles)),
            Err(_) if shallow => findings.push(Diagnostic::warning(
                FILE,
                format!("`{}` was not checked: this clone has no history", section.title),
            )),
            Err(failure) => {
                findings.push(Diagnostic::error(FILE, format!("`{}`: {failure}", section.title)));
            }
        }
    }
    Ok(findings)
}

/// Sections that do not begin where the section below them ends.
fn gaps(sections: &[Section]) -> Vec<Diagnostic> {
    let broken = sections.windows(2).filter(|pair| pair[0].from != pair[1].to);
    let finding = |pair: &[Section]| {
        let [later, earlier] = pair else { return String::new() };
        format!(
            "`{}` begins after {}, but `{}` ends with {}",
            later.title, later.from, earlier.title, earlier.to
        )
    };
    broken.map(|pair| Diagnostic::error(FILE, finding(pair))).collect()
}

/// Whether a section differs from what its commits give.
fn stale(section: &Section, titles: &[String]) -> Option<Diagnostic> {
    let message = || {
        format!(
            "`{}` is not what the titles of its commits give: run `cargo xtask changelog`, or restore the section",
            section.title
        )
    };
    (section.body != grouped(titles)).then(|| Diagnostic::error(FILE, message()))
}

impl Changelog {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut parts: Vec<String> = vec![String::new()];
        for line in text.lines() {
            if line.starts_with("## ") {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push_str(line);
                part.push('\n');
            }
        }
        let mut parts = parts.into_iter();
        let head = parts.next().unwrap_or_default();
        let (mut sections, mut tail) = (Vec::new(), String::new());
        for part in parts {
            match Section::parse(&part) {
                Some(section) if tail.is_empty() => sections.push(section),
                Some(section) => {
                    return Err(format!("`{}` is below hand-written text", section.title));
                }
                None => tail.push_str(&part),
            }
        }
        if sections.is_empty() {
            return Err("no section names the commits that it covers".to_owned());
        }
        Ok(Self { head, sections, tail })
    }

    /// Removes the open section, if there is one, and returns the commit after which the new one begins.
    fn begin_open(&mut self) -> String {
        if self.sections[0].title == OPEN {
            return self.sections.remove(0).from;
        }
        self.sections[0].to.clone()
    }

    fn text(&self) -> String {
        let sections: String = self.sections.iter().map(Section::text).collect();
        format!("{}{sections}{}", self.head, self.tail)
    }
}

impl Section {
    /// A section that names its commits; `None` for a hand-written one.
    fn parse(text: &str) -> Option<Self> {
        let (title, rest) = text.strip_prefix("## ")?.split_once("\n\n")?;
        let (commits, body) = rest.split_once("\n\n")?;
        let (from, to) = commits.strip_prefix("Commits `")?.strip_suffix("`.")?.split_once("..")?;
        let [title, from, to, body] = [title, from, to, body].map(str::to_owned);
        Some(Self { title, from, to, body })
    }

    fn text(&self) -> String {
        let Self { title, from, to, body } = self;
        format!("## {title}\n\nCommits `{from}..{to}`.\n\n{body}")
    }
}

/// The titles of commits after the first, up to the last, the newest first.
fn titles(root: &Path, from: &str, to: &str) -> Result<Vec<String>> {
    let listed = git(root, &["log", "--no-merges", "--format=%s", &format!("{from}..{to}"), "--"])?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// The lists of a section: each title once, below the heading of its first area that users meet.
fn grouped(titles: &[String]) -> String {
    let mut listed = Vec::new();
    for title in titles {
        let Some(heading) = heading_of(title) else { continue };
        if !listed.contains(&(heading, title)) {
            listed.push((heading, title));
        }
    }
    let mut text = String::new();
    for heading in GROUPS.iter().map(|(heading, _)| *heading).chain([OTHER]) {
        let titles: Vec<&str> = listed
            .iter()
            .filter(|(of_title, _)| *of_title == heading)
            .map(|(_, title)| title.as_str())
            .collect();
        if !titles.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "### {heading}\n\n- {}\n\n", titles.join("\n- "));
        }
    }
    text
}

/// The heading for a title of the form `area: what changed`; `None` if it has another form, or no user meets its areas.
fn heading_of(title: &str) -> Option<&'static str> {
    let (areas, _) = title.split_once(": ")?;
    let mut areas = areas.split(", ").filter(|area| !INTERNAL.contains(area));
    let first = areas.next()?;
    let group = GROUPS.iter().find(|(_, of_group)| of_group.contains(&first));
    Some(group.map_or(OTHER, |(heading, _)| heading))
}

/// Whether a text is a version such as `0.2.0`.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(is_number)
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new("git").current_dir(root).args(arguments).output().context("starting git")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let first = words.lines().next().unwrap_or_default();
    Err(Failure::new(format!("git {}: {first}", arguments.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    const TEXT: &str = "# Changelog\n\nHead.\n\n## Unreleased\n\nCommits `b..c`.\n\n### Store\n\n- store: one\n\n\
                        ## 0.2.0 (2026-12-01)\n\nCommits `a..b`.\n\n### Service\n\n- api: two\n\n\
                        ## Before\n\nBy hand.\n";

    #[test]
    fn titles_are_grouped_once_in_their_order_and_internal_areas_are_left_out() {
        let titles = lines(
            "store: b\ntests: c\napi, store: d\ntests, cli: e\nstore: a\nstore: b\nno area\nMerge branch 'x'\nmoon: f",
        );
        let expected = "### Service\n\n- api, store: d\n\n### Command line\n\n- tests, cli: e\n\n\
                        ### Store\n\n- store: b\n- store: a\n\n### Other\n\n- moon: f\n\n";
        assert_eq!(grouped(&titles), expected);
    }

    #[test]
    fn a_file_is_read_and_written_without_a_change_and_a_hand_written_part_stays() {
        let mut file = Changelog::parse(TEXT).unwrap();
        assert_eq!(file.text(), TEXT);
        assert_eq!(file.sections.len(), 2);
        assert_eq!(file.begin_open(), "b");
        // A closed section is kept, and the next one begins at its end.
        assert_eq!((file.begin_open().as_str(), file.sections.len()), ("b", 1));
        assert!(Changelog::parse("# Changelog\n\n## Before\n\nBy hand.\n").is_err());
        let swapped = format!("{TEXT}\n## 0.1.0\n\nCommits `a..b`.\n\n");
        assert!(Changelog::parse(&swapped).unwrap_err().contains("below hand-written text"));
    }

    #[test]
    fn a_changed_line_a_missing_commit_and_a_gap_are_found() {
        let file = Changelog::parse(TEXT).unwrap();
        assert_eq!(stale(&file.sections[0], &lines("store: one")), None);
        for wrong in ["store: one more", "store: one\ncli: two", "tests: one"] {
            let found = stale(&file.sections[0], &lines(wrong)).unwrap();
            assert!(found.message.contains("`Unreleased` is not what"), "{found:?}");
        }
        assert_eq!(gaps(&file.sections), []);
        let apart = Changelog::parse(&TEXT.replace("`a..b`", "`a..a1`")).unwrap();
        assert!(gaps(&apart.sections)[0].message.contains("begins after b"));
    }

    #[test]
    fn a_version_is_three_numbers() {
        assert!(is_version("0.2.0"));
        for wrong in ["0.2", "v0.2.0", "0.2.x", "0..1", ""] {
            assert!(!is_version(wrong), "{wrong}");
        }
        let root = workspace::root();
        let failure = run(&root, &lines("--release\nnext")).unwrap_err();
        assert_eq!(failure.code(), 2);
    }

    #[test]
    fn the_committed_file_is_what_its_commits_give_and_short_enough_to_read() {
        assert_eq!(differences(&workspace::root()).unwrap(), []);
        let text = std::fs::read_to_string(workspace::root().join(FILE)).unwrap();
        assert!(text.lines().count() < 300, "close or shorten a section");
    }
}
