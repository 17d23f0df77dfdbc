//! Manual pages, from the help of the programs.

use std::fmt::Write;

use crate::failure::Result;

/// The page of a program. `say` runs the program with arguments, and returns what it prints.
pub fn page(
    program: &str,
    version: &str,
    date: &str,
    say: &dyn Fn(&[&str]) -> Result<String>,
) -> Result<String> {
    let help = say(&["--help"])?;
    let about = help.lines().next().unwrap_or_default().trim_end_matches('.');
    let mut page = format!(
        ".TH {} 1 \"{date}\" \"exitgap {version}\"\n.SH NAME\n{program} \\- {}\n.SH DESCRIPTION\n",
        program.to_uppercase(),
        escaped(about)
    );
    put(&mut page, &help);
    for command in commands(&help) {
        // Writing to a string cannot fail.
        let _ = writeln!(page, ".SH {program} {command}");
        put(&mut page, &say(&[command, "--help"])?);
    }
    Ok(page)
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<&str> {
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = listed.lines().take_while(|line| !line.is_empty());
    // Longer descriptions continue further right.
    let names =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Adds a text with its own lines.
fn put(page: &mut String, text: &str) {
    page.push_str(".nf\n");
    for line in text.trim_end().lines() {
        let line = escaped(line);
        // A point or an apostrophe at the beginning would be a request.
        let begins = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
        let _ = writeln!(page, "{begins}{line}");
    }
    page.push_str(".fi\n");
}

fn escaped(line: &str) -> String {
    line.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_help_of_the_program_and_of_each_command() {
        let say = |arguments: &[&str]| {
            Ok(match arguments {
                ["--help"] => {
                    "Sells.\n\nCommands:\n  size   How much\n           at most\n  help   Print\n\nOptions:\n  --json\n".to_owned()
                }
                ["size", "--help"] => ".5 of a \\ token".to_owned(),
                other => panic!("{other:?}"),
            })
        };
        let page = page("exitgap", "1.0", "2026-01-02", &say).unwrap();
        assert!(page.starts_with(
            ".TH EXITGAP 1 \"2026-01-02\" \"exitgap 1.0\"\n.SH NAME\nexitgap \\- Sells\n"
        ));
        assert!(page.contains("\n  \\-\\-json\n"), "{page}");
        assert!(page.ends_with(".SH exitgap size\n.nf\n\\&.5 of a \\e token\n.fi\n"), "{page}");
        assert_eq!(page.matches(".SH").count(), 3, "{page}");
    }
}
