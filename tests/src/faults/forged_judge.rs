//! Gives changed files to every reader that knows their kind, and judges what they say.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

use exitgap_core::evidence::Verdict;
use tempfile::TempDir;

use super::forged_kind::{Changed, Kind, Said, word};
use super::forged_node::{Node, NodeReader};
use super::{Result, memory_folder};
use crate::binaries;

/// How often a reader that is not in this process is asked: once in this many changes, and whenever a change is valid.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// The second verifier.
    pub second: u64,
    /// The package.
    pub package: u64,
    /// The command line, a process each time.
    pub command: u64,
}

/// How much time a reader may take for each begun MiB.
pub const MOST_MS: u64 = 100;

/// The time that a thread spends, which other programs of the machine do not add to. Where the system does not tell it, and of
/// readers that start threads of their own, the time that passes.
struct Clock {
    begun: Instant,
    spent: Option<Duration>,
}

impl Clock {
    fn now() -> Self {
        Self { begun: Instant::now(), spent: spent_by_this_thread() }
    }

    fn elapsed(&self, has_threads: bool) -> Duration {
        let passed = self.begun.elapsed();
        let spent =
            self.spent.zip(spent_by_this_thread()).map(|(before, now)| now.saturating_sub(before));
        spent.filter(|_| !has_threads).map_or(passed, |spent| spent.min(passed))
    }
}

fn spent_by_this_thread() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// What is wrong with a reader.
#[derive(Debug)]
pub struct Fault {
    /// The figure that counts it.
    pub key: &'static str,
    /// The kind of the file.
    pub kind: &'static str,
    /// The file, and what readers say.
    pub words: String,
}

/// What was found, by kind and reader.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many changed files each reader of each kind was given.
    pub given: BTreeMap<(String, String), u64>,
    /// How many changes were made, by kind.
    pub changes: BTreeMap<String, u64>,
    /// How many of them are valid, and as true as the file was.
    pub still_true: BTreeMap<String, u64>,
    /// How many changed files are valid that the log's own key signed.
    pub control_valid: u64,
    /// Faults, each with its figure.
    pub faults: Vec<Fault>,
    /// The longest time of a reader for a begun MiB.
    pub worst: Duration,
    /// The reader and the file that took it.
    pub slowest: String,
}

impl Tally {
    /// Adds what another thread found.
    pub fn absorb(&mut self, other: Self) {
        let add = |own: &mut BTreeMap<String, u64>, theirs: BTreeMap<String, u64>| {
            for (key, count) in theirs {
                *own.entry(key).or_default() += count;
            }
        };
        add(&mut self.changes, other.changes);
        add(&mut self.still_true, other.still_true);
        for (key, count) in other.given {
            *self.given.entry(key).or_default() += count;
        }
        self.control_valid += other.control_valid;
        self.faults.extend(other.faults);
        if other.worst > self.worst {
            (self.worst, self.slowest) = (other.worst, other.slowest);
        }
    }

    fn fault(&mut self, key: &'static str, kind: &dyn Kind, changed: &Changed, why: &str) {
        let seed = kind.whole(changed.seed).what;
        let words = format!("{}, {seed}: {}: {why}", kind.name(), changed.what);
        self.faults.push(Fault { key, kind: kind.name(), words });
    }

    fn count(&mut self, kind: &dyn Kind, reader: &str) {
        *self.given.entry((kind.name().to_owned(), reader.to_owned())).or_default() += 1;
    }
}

/// The readers of one thread.
pub struct Judge {
    shares: Shares,
    second: Node,
    package: Option<Node>,
    folder: TempDir,
    /// What was found.
    pub tally: Tally,
}

impl Judge {
    /// Readers of their own.
    pub fn new(shares: Shares) -> Result<Self> {
        let package = NodeReader::Package;
        let package = package.is_there().then(|| Node::new(package));
        let (second, folder) = (Node::new(NodeReader::Second), memory_folder()?);
        Ok(Self { shares, second, package, folder, tally: Tally::default() })
    }

    /// Gives a changed file to the readers; `number` decides which of them.
    pub fn judge(&mut self, kind: &dyn Kind, changed: &Changed, number: u64) -> Result<()> {
        *self.tally.changes.entry(kind.name().to_owned()).or_default() += 1;
        let mut first: Option<Said> = None;
        for (place, reader) in kind.readers().iter().enumerate() {
            let Some(said) = self.read(kind, place, reader, changed) else { return Ok(()) };
            self.judge_said(kind, reader, changed, &said);
            match &first {
                // A reader that does not read all of a file says nothing to compare.
                Some(first) if !said.compared.is_empty() && first.compared != said.compared => {
                    let why = format!("{}; {reader}: {}", first.compared, said.compared);
                    self.tally.fault("disagreeing", kind, changed, &why);
                }
                Some(_) => {}
                None => first = Some(said),
            }
        }
        let Some(first) = first else { return Ok(()) };
        if first.compared.is_empty() {
            return Ok(());
        }
        let is_asked = |share: u64| first.verdict == Verdict::Valid || number.is_multiple_of(share);
        let Shares { second, package, command } = self.shares;
        if is_asked(second)
            && let Some(question) = kind.ask_second(changed)
        {
            self.ask(NodeReader::Second, kind, changed, &question, &first)?;
        }
        if is_asked(package)
            && let Some(question) = kind.ask_package(changed)
        {
            self.ask(NodeReader::Package, kind, changed, &question, &first)?;
        }
        if number.is_multiple_of(command) {
            self.run_command(kind, changed, &first)?;
        }
        Ok(())
    }

    /// Reads a file in this process, and measures it. A panic is a fault.
    fn read(
        &mut self,
        kind: &dyn Kind,
        place: usize,
        reader: &str,
        changed: &Changed,
    ) -> Option<Said> {
        self.tally.count(kind, reader);
        let mut best = Duration::MAX;
        let mut said = None;
        let mebibytes = u32::try_from(kind.size(changed).div_ceil(1 << 20).max(1)).unwrap_or(1);
        // A slow reading is measured again: other programs of the machine may have been the cause.
        for _ in 0..3 {
            let begun = Clock::now();
            let found = catch_unwind(AssertUnwindSafe(|| kind.read(place, changed)));
            best = best.min(begun.elapsed(kind.has_threads()) / mebibytes);
            let Ok(found) = found else {
                self.tally.fault("panicked", kind, changed, reader);
                return None;
            };
            said = Some(found);
            if best <= Duration::from_millis(MOST_MS / 2) {
                break;
            }
        }
        if best > self.tally.worst {
            self.tally.worst = best;
            self.tally.slowest = format!(
                "{}, {reader}, {} bytes: {}",
                kind.name(),
                kind.size(changed),
                changed.what
            );
        }
        said
    }

    fn judge_said(&mut self, kind: &dyn Kind, reader: &str, changed: &Changed, said: &Said) {
        if said.verdict != Verdict::Valid {
            return;
        }
        if let Some(unclear) = &said.unclear {
            self.tally.fault("unclear", kind, changed, &format!("{reader}: {unclear}"));
        }
        if changed.is_signed {
            self.tally.control_valid += 1;
            return;
        }
        if kind.is_true(&said.stated) {
            *self.tally.still_true.entry(kind.name().to_owned()).or_default() += 1;
        } else {
            let stated: String = said.stated.chars().take(300).collect();
            self.tally.fault("accepted", kind, changed, &format!("{reader}: {stated}"));
        }
    }

    fn ask(
        &mut self,
        which: NodeReader,
        kind: &dyn Kind,
        changed: &Changed,
        question: &serde_json::Value,
        first: &Said,
    ) -> Result<()> {
        let node = match which {
            NodeReader::Second => &mut self.second,
            NodeReader::Package => match &mut self.package {
                Some(node) => node,
                None => return Ok(()),
            },
        };
        let answer = node.ask(changed.seed, || kind.context(changed.seed), question)?;
        self.tally.count(kind, which.name());
        let why = match answer.error {
            Some(error) => format!("{} failed: {error}", which.name()),
            None if answer.compared == first.compared => return Ok(()),
            None => format!("{}; {}: {}", first.compared, which.name(), answer.compared),
        };
        self.tally.fault("disagreeing", kind, changed, &why);
        Ok(())
    }

    /// The command line's verdict: valid or not. Its text says why a file is not valid.
    fn run_command(&mut self, kind: &dyn Kind, changed: &Changed, first: &Said) -> Result<()> {
        let Some(arguments) = kind.command(changed, self.folder.path()) else { return Ok(()) };
        let output = Command::new(binaries::path("exitgap")).args(arguments?).output()?;
        self.tally.count(kind, "command line");
        let is_valid = first.verdict == Verdict::Valid;
        let ended = output.status.code();
        // 0: valid; 2 and 5: not such a file; 6: invalid; 7: incomplete.
        let is_verdict = matches!(ended, Some(0 | 2 | 5 | 6 | 7));
        if is_verdict && (ended == Some(0)) == is_valid {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr).chars().take(200).collect::<String>();
        let why = format!("{}; command line: {ended:?} {words}", word(first.verdict));
        self.tally.fault("disagreeing", kind, changed, &why);
        Ok(())
    }
}
