//! `cargo xtask faults`: kills, power failures, full and failing disks, flipped bits, modified evidence, floods of
//! requests, false answers of nodes.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Result;
use crate::{process, setup, workspace};

/// The output of `cargo xtask faults --help`.
pub const HELP: &str = "\
Inject faults into a recorded series or its service, and report the results.

Usage: cargo xtask faults [KIND …] [--json] [--kills N] [--cuts N] [--flips N] [--bits N] [--cases N]
                          [--answers N] [--mutations N] [--seed S] [--only KIND,…]

  kill          a writer killed (-9) at N random moments (500), with a full check after each
  power_cut     a writer's real writes and syncs, recorded with strace and replayed at N points (1000)
                onto a disk that drops or tears unsynced data; the control ignores syncs
  disk_full     a recorder on a file system of 4 MiB that is full for five slots; if none can be
                mounted, neither as root nor in a separate name space, SQLite's page limit is used.
                The output shows which; EXITGAP_FAULTS_DISK_FULL=pages forces the page limit
  failing_sync  each sync of a recorder answered with an error (strace), one run for each
  bit_flip      about N bits (4000) of every kind of page and file, and every row of every table
  tamper        an evidence file of 1,200 ticks: N bits (1) of each byte of the snapshot, all eight of
                every other byte, and every field removed, doubled, reordered, renamed, retyped
  forged        N changed files (320000) of every kind: evidence, refusals, windows, kept checkpoints, log proofs, two
                histories, figures, state proofs, anchors, receipts, cosignatures, reports, logs, days. Where that is
                possible their hashes are made anew, and strangers sign them. Every reader that knows the kind reads
                them: the libraries, the second verifier, the npm package if it is built, the command line. None may
                be valid that states something else than was signed, all readers must agree, and a verdict must
                name what its file is of. Then a log is copied from a server that answers with too much
  old_backup    older copies of the store restored under a newer log
  flood         twelve loopback addresses ask a service that records 100 pools: abandoned and slow
                requests to every expensive endpoint. Measures open connections, memory and delay, each
                with its target; the control is a service without limits
  budget        24 wallets, two thirds in Rust and one third in Node.js, pay from one ledger until its
                limit; some are killed, each step in turn; the control gives each a ledger of its own.
                The paid service is part of the harness and answers 402 as specified
  payments      four real services that share a database are paid 100,000 times: many clients at once, with
                the same payment again and again, also for something else. They are killed (-9) 150 times at
                the steps between which a payment is written down, in turn, and 66 times at random. The
                chain's own events show who paid. The control settles without writing ahead, and is killed at
                the same steps. Brings the kind budget with it
  alerts        two processes that evaluate stored rules and send events, killed (-9) N times (500) while slots are
                sealed and endpoints fail; the received events are compared with those from rule and log. Thirty days of
                slots evaluated by a process that forgets, and at the end. Streams of a service that is killed a
                tenth as often miss nothing. And every spelling of an address
                that nothing may be sent to; the control reaches a listener

  s3            a log uploaded to S3-compatible storage (moto, of Python, installed into .fixtures) by a process that is
                killed (-9) 40 times, while one request in six fails: 500 with and without being applied, an answer
                that is lost, 409, 503, late, stale, no space. The result is compared with the folder; the
                control uploads the checkpoint first
  ha            two recorders of one store on a private PostgreSQL server (Debian's postgresql, installed as root), of which
                the one that seals is killed (-9) 100 times, about half of them as soon as it says what it signed; as many
                other faults: it is stopped until the other took over, all connections are cut, the server is killed, the
                way to it is slow, or half open until the other took over, or without answers. One history, every
                acknowledged slot, every reading of the shard that both share; the control claims nothing before it signs,
                and freezes nothing before it takes what was read. Then ten promotions of a standby whose
                primary lives on, with a recorder at each; the control's primary waits for no standby. Ten more of
                such, whose recorders claim outside of their databases: one history again
  nodes         a recorder of a real development node, of which one access changes its answers: every method that is
                asked for, with missing, null, retyped, cut, doubled, reordered, contradictory and huge data, HTTP
                statuses and encodings; N answers (2000) while another node is healthy, then some with the node
                alone. Deadlines are six times shorter. Each slot is compared with that of an undisturbed
                recorder; the control compares the bytes of each answer with the node's own

  --json        one flat JSON object of numbers on stdout, nothing else
  --mutations N how many files are changed in all (320000)
  --cases N     how often the disk is filled, each time to another last free byte (8)
  --answers N   how many answers of a node are changed, at least, while another node is healthy (2000)
  --only KIND   only these, separated by commas; the same as naming them
  --seed S      seed for random moments, points and bits (1)

Each kind can be run alone; all together take some two hours on two cores. Exit code 1 if acknowledged data is lost, incomplete or
changed without detection, if a flood exceeds its targets, if a request is paid twice, answered without payment or
paid without an answer, or if payments exceed a budget. Needs strace: installed automatically as root on Debian.";

/// Runs the harness.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    setup::ensure_strace();
    if brings(arguments, "ha") {
        setup::ensure_postgres();
    }
    if brings(arguments, "s3") {
        setup::ensure_moto(root)?;
    }
    // A flood needs a service that records a chain.
    setup::ensure(root)?;
    let mut build = workspace::cargo(root);
    // Builds the same as `cargo xtask test`: with less, shared dependencies would have other features, and most would
    // be rebuilt.
    build.arg("build").args(workspace::NATIVE).args(["--lib", "--bins", "--tests", "--quiet"]);
    process::run(&mut build, "cargo build")?;
    let metadata = workspace::metadata(root)?;
    let mut faults = Command::new(workspace::debug_binary(&metadata, "faults"));
    process::run(faults.args(arguments), "the fault harness")
}

/// Whether these arguments select a kind: they name it, or none.
fn brings(arguments: &[String], kind: &str) -> bool {
    let is_kind = |word: &&String| !word.starts_with('-') && word.parse::<u64>().is_err();
    let mut named = arguments.iter().filter(is_kind).flat_map(|word| word.split(',')).peekable();
    named.peek().is_none() || named.any(|word| word == kind)
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether a program runs and succeeds; its output is discarded.
pub fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
