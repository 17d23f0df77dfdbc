//! Checks the links between documents: each must lead to an existing file of the repository, and to an existing
//! heading.

use std::collections::{BTreeMap, BTreeSet};

use super::{Diagnostic, Source};

/// Broken links in Markdown files. Web addresses are not checked.
pub fn dead(sources: &[Source]) -> Vec<Diagnostic> {
    let mut places = BTreeSet::new();
    let mut headings = BTreeMap::new();
    for source in sources {
        places.extend(with_folders(&source.path));
        if is_markdown(&source.path) {
            headings.insert(source.path.as_str(), anchors(&source.text));
        }
    }
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_markdown(&source.path)) {
        for (line, target) in links(&source.text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let place = if path.is_empty() {
                Some(source.path.clone())
            } else {
                resolve_link(&source.path, path)
            };
            let at = format!("{}:{line}", source.path);
            let Some(place) = place.filter(|place| places.contains(place.as_str())) else {
                let message = format!("`{target}` does not exist in the repository");
                findings.push(Diagnostic::error(at, message));
                continue;
            };
            let known = headings.get(place.as_str()).is_none_or(|all| all.contains(anchor));
            if !anchor.is_empty() && !known {
                findings
                    .push(Diagnostic::error(at, format!("{place} has no heading for `#{anchor}`")));
            }
        }
    }
    findings
}

/// A file's path, and those of its parent folders.
fn with_folders(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders.chain(std::iter::once(path))
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "md")
}

/// The lines of text, numbered from 1, without those in code fences.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// Line and target of each link to a file or heading: the text in parentheses after `]`.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for (start, _) in line.match_indices("](") {
            let target = line[start + 2..].split([')', ' ']).next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push((number, target));
            }
        }
    }
    found
}

/// The anchor of a heading: lower case, without punctuation, and hyphens for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' ')).flatten()
    });
    headings.map(anchor).collect()
}

fn anchor(title: &str) -> String {
    let kept =
        title.trim().chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The path to which a link in the file `from` leads; `None` if it is outside the repository.
fn resolve_link(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead_in(text: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let found = dead(&[
            source("docs/a.md", text),
            source("docs/b/c.md", "# A title, `quoted`\n## Which one?\n```\n# no title\n```\n"),
            source("README.md", "# Here\n"),
            source("src/lib.rs", "[x](nowhere.md)"),
        ]);
        found.into_iter().map(|finding| format!("{} {}", finding.place, finding.message)).collect()
    }

    #[test]
    fn what_leads_somewhere_is_left_alone() {
        let text = "# Mine\n[a](b/c.md) [b](./b/c.md#a-title-quoted) [c](b/c.md#which-one), [d](../README.md)\n\
             [folder](b) [code](../src/lib.rs#L3) [here](#mine) [net](https://a.example/none)\n";
        assert_eq!(dead_in(text), Vec::<String>::new());
        assert_eq!(dead_in("```\n[x](nowhere.md)\n```\n"), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_no_file_and_one_to_no_heading_are_found_with_their_line() {
        for (text, found) in [
            ("\n[x](nowhere.md)", "docs/a.md:2 `nowhere.md` does not exist in the repository"),
            (
                "[x](../../README.md)",
                "docs/a.md:1 `../../README.md` does not exist in the repository",
            ),
            ("[x](b/c.md#no-title)", "docs/a.md:1 docs/b/c.md has no heading for `#no-title`"),
            ("[x](b/c.md#a-title)", "docs/a.md:1 docs/b/c.md has no heading for `#a-title`"),
            ("[x](#here)", "docs/a.md:1 docs/a.md has no heading for `#here`"),
        ] {
            let all = dead_in(text);
            assert_eq!(all.len(), 1, "{all:?}");
            assert!(all[0].starts_with(found), "{all:?}");
        }
    }
}
