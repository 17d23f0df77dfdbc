//! `cargo xtask faults`: kills, power cuts, full and failing disks, flipped bits, changed evidence,
//! floods of requests.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Result;
use crate::{process, setup, workspace};

/// What `cargo xtask faults --help` prints.
pub const HELP: &str = "\
Do faults to a recorded series, or to its service, and say what became of it.

Usage: cargo xtask faults [KIND …] [--json] [--kills N] [--cuts N] [--flips N] [--bits N] [--cases N]
                          [--seed S] [--only KIND,…]

  kill          a writer killed (-9) at N random moments (500), all checked after each
  power_cut     a writer's real writes and syncs, recorded with strace and replayed at N points (1000)
                onto a disk that drops or tears what was not synced; the control ignores syncs
  disk_full     a recorder on a file system of 4 MiB that is full for five slots; where none may be
                mounted, neither as root nor in a name space of its own, SQLite's page limit instead.
                It says which; EXITGAP_FAULTS_DISK_FULL=pages asks for the limit
  failing_sync  each sync of a recorder answered with an error (strace), one run for each
  bit_flip      about N bits (4000) of every kind of page and file, and every row of every table
  tamper        an evidence file of 1,200 ticks: N bits (1) of each byte of the snapshot, all eight of
                every other byte, and every field removed, doubled, reordered, renamed, retyped
  old_backup    older copies of the store put under the log that went on
  flood         twelve loopback addresses ask a service that records 100 pools: abandoned and slow
                requests on every costly address. What is left open, held in memory and delayed, each
                with its target; the control is a service whose bounds are configured away
  budget        24 wallets, two thirds in Rust and one third in Node.js, pay from one ledger until its
                limit; some are killed, each step in turn; the control gives each a ledger of its own.
                The service that is paid is the harness's own: it answers 402 as designed
  payments      four real services that share a database are paid 100,000 times: many clients at once, with
                the same payment again and again, also for something else. They are killed (-9) 150 times at
                the steps between which a payment is written down, in turn, and 66 times at random. The
                chain's own events say who paid. The control settles without writing ahead, and is killed at
                the same steps. Brings the kind budget with it
  alerts        two processes that evaluate kept rules and tell them, killed (-9) N times (500) while slots are
                sealed and endpoints fail; what came is compared with what rule and log make. Thirty days of
                slots evaluated by a process that forgets, and at the end. Streams of a service that is killed a
                tenth as often miss nothing. And every spelling of an address
                that nothing may be sent to; the control reaches a listener

  s3            a log brought into storage that speaks S3 (moto, of Python, installed into .fixtures) by a process that is
                killed (-9) 40 times, while one request in six fails: 500 with and without being applied, an answer
                that is lost, 409, 503, late, stale, no room. What is there is compared with the folder; the
                control copies the checkpoint first
  ha            two recorders of one store on a private PostgreSQL server (Debian's postgresql, installed as root), of which
                the one that seals is killed (-9) 100 times, about half of them as soon as it says what it signed; as many
                other faults: it is stopped until the other took over, all connections are cut, the server is killed, the
                way to it is slow, or half open until the other took over, or without answers. One history, every
                acknowledged slot, every reading of the shard that both share; the control claims nothing before it signs,
                and freezes nothing before it takes what was read. Then ten promotions of a standby whose
                primary lives on, with a recorder at each; the control's primary waits for no standby. Ten more of
                such, whose recorders claim outside of their databases: one history again

  --json        one flat JSON object of numbers on stdout, nothing else
  --cases N     how often the disk is filled, each time to another last free byte (8)
  --only KIND   only these, separated by commas; the same as naming them
  --seed S      what moments, points and bits are drawn from (1)

About forty minutes on two cores. Ends with exit code 1 when something acknowledged is lost, half, or
changed without being noticed, a flood leaves or delays more than its targets,
something is paid twice, answered unpaid or paid and not answered, or more is paid than a budget allows. Needs strace: as root on Debian it is installed, else it is named.";

/// Runs the harness.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    setup::ensure_strace();
    if brings(arguments, "ha") {
        setup::ensure_postgres();
    }
    if brings(arguments, "s3") {
        setup::ensure_moto(root)?;
    }
    // A flood is of a service that records a chain.
    setup::ensure(root)?;
    let mut build = workspace::cargo(root);
    // All that `cargo xtask test` builds: with less, the features of shared dependencies are others, and most is built anew.
    build.arg("build").args(workspace::NATIVE).args(["--lib", "--bins", "--tests", "--quiet"]);
    process::run(&mut build, "cargo build")?;
    let metadata = workspace::metadata(root)?;
    let mut faults = Command::new(workspace::debug_binary(&metadata, "faults"));
    process::run(faults.args(arguments), "the fault harness")
}

/// Whether these arguments ask for a kind: they name it, or none.
fn brings(arguments: &[String], kind: &str) -> bool {
    let is_kind = |word: &&String| !word.starts_with('-') && word.parse::<u64>().is_err();
    let mut named = arguments.iter().filter(is_kind).flat_map(|word| word.split(',')).peekable();
    named.peek().is_none() || named.any(|word| word == kind)
}

/// Whether this runs as root.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether a program runs and succeeds; what it says is not shown.
pub fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
