//! Executes the tutorial: runs its shell blocks in one session and compares the output with the page.
//!
//! The simulated day is shorter than that of `cargo xtask demo --once`: only its first three slots, which are
//! identical.

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use exitgap_tests::binaries;
use exitgap_tests::demo::Demo;
use tempfile::TempDir;

use super::document;

const PAGE: &str = "crates/exitgap-server/docs/tutorial.md";

/// The first block, which simulates the day.
const PLAYS: &str = "cargo xtask demo --once";

/// The address on which the page's service listens.
const LISTENS: &str = "127.0.0.1:8080";

/// The separator between the outputs of the blocks.
const NEXT: &str = "==== next block ====";

/// A shell block, and the output that the page shows for it.
struct Block {
    shell: String,
    shows: Option<String>,
}

/// Returns the code blocks of a page: `sh` blocks, each followed by a `text` block if the page shows its output.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for fence in page.split("```").skip(1).step_by(2) {
        let (language, body) = fence.split_once('\n').unwrap();
        match language {
            "sh" => blocks.push(Block { shell: body.to_owned(), shows: None }),
            "text" => {
                let last = blocks.last_mut().expect("an output follows its commands");
                assert!(last.shows.replace(body.to_owned()).is_none(), "two outputs of one block");
            }
            other => panic!("a block of {other:?} is neither run nor compared"),
        }
    }
    blocks
}

/// Whether a text equals the shown one, in which `…` matches any text within a line, or any number of lines if it is
/// the whole line.
fn is_as_shown(found: &[&str], shown: &[&str]) -> bool {
    match (found, shown) {
        (_, ["…", rest @ ..]) => {
            (0..=found.len()).any(|skipped| is_as_shown(&found[skipped..], rest))
        }
        ([line, found @ ..], [like, shown @ ..]) => {
            line_is_like(line.trim_end(), like) && is_as_shown(found, shown)
        }
        _ => found.is_empty() && shown.is_empty(),
    }
}

fn line_is_like(line: &str, like: &str) -> bool {
    let Some((before, after)) = like.split_once('…') else { return line == like };
    let Some(rest) = line.strip_prefix(before) else { return false };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| line_is_like(&rest[at..], after))
}

/// Returns a free port.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[test]
fn what_is_shown_is_told_from_what_is_not() {
    let shown = |found: &str, like: &str| {
        is_as_shown(&found.lines().collect::<Vec<_>>(), &like.lines().collect::<Vec<_>>())
    };
    assert!(shown("a\nb 7 c\nd", "a\nb … c\nd"));
    assert!(shown("a\nx\ny\nd", "a\n…\nd") && shown("a\nd", "a\n…\nd") && shown("a\n", "a\n…"));
    assert!(!shown("a\nb 7 d", "a\nb … c") && !shown("a", "a\nb") && !shown("a\nb", "a"));
    assert!(!shown("a\nx", "…\nb"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tutorial_runs_and_shows_what_it_says() {
    let blocks = blocks(&document(PAGE));
    assert_eq!(blocks[0].shell.trim_end(), PLAYS);
    let home = TempDir::new().unwrap();
    let server = binaries::path("exitgap-server");
    fs::create_dir(home.path().join("target")).unwrap();
    symlink(server.parent().unwrap(), home.path().join("target/debug")).unwrap();
    let (cli, folder) = (binaries::path("exitgap"), home.path().join("target/demo"));
    let demo = Demo { server, cli, folder, slots: 3, once: true, payments: false, pages: None };
    demo.play().await.unwrap();

    let mut script = "set -eu\n".to_owned();
    for block in &blocks[1..] {
        write!(script, "echo '{NEXT}'\n{}", block.shell).unwrap();
    }
    assert!(script.contains(LISTENS));
    let script = script.replace(LISTENS, &format!("127.0.0.1:{}", free_port()));
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(&script).current_dir(home.path()).stdin(Stdio::null());
    let output = bash.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}\n{errors}", output.status);

    let outputs: Vec<&str> = said.split(&format!("{NEXT}\n")).skip(1).collect();
    assert_eq!(outputs.len(), blocks.len() - 1);
    let mut compared = 0;
    for (block, output) in blocks[1..].iter().zip(outputs) {
        let Some(shows) = &block.shows else { continue };
        let (found, like): (Vec<_>, Vec<_>) = (output.lines().collect(), shows.lines().collect());
        assert!(is_as_shown(&found, &like), "{}\nshows\n{output}\nand not\n{shows}", block.shell);
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");

    // The first block in the README equals the page's first answer.
    let readme = document("README.md");
    let shown = readme.split("```\n").nth(1).unwrap();
    let estimate = blocks.iter().find(|block| block.shell.contains("exitgap estimate")).unwrap();
    let (command, answer) = shown.split_once('\n').unwrap();
    assert_eq!(Some(answer), estimate.shows.as_deref());
    let pool = "pool=anvil:0x93f90eb8ea4b99ec1477a36f3af1e6cd89b9f720\n";
    let same = estimate.shell.strip_prefix(pool).unwrap().replace("$pool", &pool.trim_end()[5..]);
    assert_eq!(command, format!("$ {}", same.trim_end()));
}
