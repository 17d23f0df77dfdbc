//! Documents list every command and every address, and no other command.

use std::collections::BTreeSet;
use std::process::Command;

use exitgap_api::operations::Operation;
use exitgap_tests::binaries;

use super::document;

/// Returns the names of the commands in a program's help.
fn commands_of(program: &str) -> BTreeSet<String> {
    let output = Command::new(binaries::path(program)).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let listed = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = listed.lines().map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Returns the commands of a program that a document mentions in code spans.
fn spelled_in(text: &str, program: &str) -> BTreeSet<String> {
    let begin = format!("{program} ");
    let code = text.split('`').skip(1).step_by(2);
    let words = code.filter_map(|code| code.strip_prefix(&begin)?.split_whitespace().next());
    words.filter(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

#[test]
fn the_list_of_commands_is_what_the_program_has() {
    assert_eq!(
        spelled_in(
            "`exitgap size <pool>` `exitgap <command> --help` `exitgap-server init`",
            "exitgap"
        ),
        BTreeSet::from(["size".to_owned()])
    );
    let listed = spelled_in(&document("crates/exitgap-cli/README.md"), "exitgap");
    assert_eq!(listed, commands_of("exitgap"));
}

#[test]
fn every_operation_has_its_address_in_the_list() {
    let list = document("crates/exitgap-server/docs/addresses.md");
    let operations = Operation::list_all();
    assert!(operations.len() > 30);
    for operation in operations {
        let template = operation.template();
        let stands = list.match_indices(template).any(|(at, _)| {
            let after = list[at + template.len()..].chars().next();
            matches!(after, Some('`' | '?'))
        });
        assert!(stands, "{template} is not listed");
    }
}
