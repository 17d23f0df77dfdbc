//! `exitgap export`: downloads closed days and checks them against the log of days.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use exitgap_api::{ExportReport, Problem, ProblemCode};
use exitgap_client::copy::LogFiles;
use exitgap_core::evidence::Verdict;
use exitgap_core::file_errors::explained;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::{
    DayFile, DayLeaf, DayManifest, DaysFile, DaysHistory, FileRef, MAX_DAY_LEAF_BYTES,
    MAX_DAY_MANIFEST_BYTES, days_origin,
};
use exitgap_core::series::Day;
use exitgap_core::tlog::{
    Checkpoint, Frontier, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Origin, TILE_WIDTH, Tile, TileKind,
    VerifierKey, keys_from_lines, push_entry,
};
use exitgap_store::write_output;
use indicatif::{ProgressBar, ProgressStyle};

use super::print_json;
use crate::arguments::ExportArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{group_digits, printable};
use crate::log_source::{LogAt, address};
use crate::source::{self, unreadable};
use crate::trust;

pub fn run(args: &ExportArgs, json: bool) -> Result<ExitCode, Failure> {
    // Report invalid arguments before anything is downloaded.
    let keys_trusted = !args.trust.trust.is_empty();
    let trusted = trust::keys(&args.trust.trust)?;
    let pools = args.pools.iter().map(|pool| source::pool_id(pool));
    let pools: Vec<PoolId> = pools.collect::<Result<_, _>>()?;
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        let problem = Problem::new(ProblemCode::PeriodReversed, "from is after to").field("from");
        return Err(problem.hint("give the earlier day with --from").into());
    }
    let files = Files::from_log(&args.log)?;
    let keys = if keys_trusted { trusted } else { files.own_keys()? };
    let began = Instant::now();
    let mut taken =
        Taken { files: &files, out: &args.out, pools: &pools, counts: Counts::default() };
    let history = match files.history(&keys)? {
        Ok((note, history)) => goes_on(&args.out, &note, &history)?.map(|()| (note, history)),
        Err(fault) => Err(fault),
    };
    let mut fault = history.as_ref().err().cloned();
    let mut days = 0;
    if let Ok((note, history)) = &history {
        let leaves = select_days(history, args.from, args.to)?;
        fs::create_dir_all(&args.out).map_err(|error| io_failure(&args.out, &error))?;
        keep_log_of_days(&args.out, note, history)?;
        let bar = progress(leaves.len() as u64);
        for leaf in &leaves {
            fault = taken.day(leaf, &history.checkpoint.origin)?;
            if fault.is_some() {
                break;
            }
            days += 1;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    let Counts { files: count, kept, bytes, rows } = taken.counts;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    let checkpoint = history.as_ref().ok().map(|(_, history)| &history.checkpoint);
    let report = ExportReport {
        verdict: match &fault {
            Some(_) => Verdict::Invalid,
            None if keys_trusted => Verdict::Valid,
            None => Verdict::Incomplete,
        },
        fault,
        origin: checkpoint.map(|checkpoint| checkpoint.origin.to_string()),
        keys: keys.iter().map(VerifierKey::to_string).collect(),
        keys_trusted,
        days_closed: checkpoint.map_or(0, |checkpoint| checkpoint.size),
        days,
        files: count,
        kept,
        bytes,
        rows,
        rows_per_s: rows.saturating_mul(1_000) / ms,
        out: args.out.display().to_string(),
    };
    let printed = if json { print_json(&report) } else { print_text(&report) };
    read_or_not(printed)?;
    Ok(verdict_code(report.verdict))
}

/// The newest checkpoint of the log of days that was seen for this folder.
const SEEN: &str = "days-checkpoint";

/// A signed checkpoint that does not extend the seen one: both together are the proof.
const CONTRADICTS: &str = "days-checkpoint.contradicts";

/// Keeps the log of days next to the days, so that an audit of one finds it there: its leaves, then the checkpoint.
fn keep_log_of_days(out: &Path, note: &str, history: &DaysHistory) -> Result<(), Failure> {
    let width = usize::try_from(TILE_WIDTH).unwrap_or(usize::MAX);
    for (index, leaves) in (0..).zip(history.leaves.chunks(width)) {
        let tile = Tile::new(TileKind::Entries, index, leaves.len() as u64);
        let Some(tile) = tile else { break };
        let mut bytes = Vec::new();
        for leaf in leaves {
            let leaf = leaf.to_canonical().map_err(|error| unreadable(error.to_string()))?;
            if !push_entry(&mut bytes, &leaf) {
                return Err(unreadable("a leaf of the log of days is too long".to_owned()).into());
            }
        }
        let path = out.join(tile.path());
        let folder = path.parent().unwrap_or(out);
        fs::create_dir_all(folder).map_err(|error| io_failure(folder, &error))?;
        put(&path, &bytes)?;
    }
    put(&out.join(SEEN), note.as_bytes())
}

/// Whether the log of days extends the checkpoint seen when days were last written to this folder; the inner error says
/// why not.
fn goes_on(out: &Path, newest: &str, history: &DaysHistory) -> Result<Result<(), String>, Failure> {
    let path = out.join(SEEN);
    let note =
        read_within(&path, MAX_NOTE_BYTES as u64).map_err(|error| io_failure(&path, &error))?;
    let Some(note) = note else { return Ok(Ok(())) };
    let wrong = |error: &dyn std::fmt::Display| unreadable(format!("{}: {error}", path.display()));
    let note = String::from_utf8(note).map_err(|error| wrong(&error))?;
    let (seen, _) = Checkpoint::from_note(&note).map_err(|error| wrong(&error))?;
    let now = &history.checkpoint;
    if seen.origin != now.origin {
        let detail = format!(
            "{} is from {}, but this log of days is {}",
            path.display(),
            seen.origin,
            now.origin
        );
        let hint = "each log needs its own folder; give another one with --out";
        return Err(unreadable(detail).hint(hint).into());
    }
    let mut tree = Frontier::default();
    for leaf in history.leaves.iter().take(usize::try_from(seen.size).unwrap_or(usize::MAX)) {
        let leaf = leaf.to_canonical().map_err(|error| unreadable(error.to_string()))?;
        tree.push(DayLeaf::leaf_of(&leaf));
    }
    let held = (tree.size(), tree.root()) == (seen.size, seen.root);
    if held {
        return Ok(Ok(()));
    }
    let other = out.join(CONTRADICTS);
    put(&other, newest.as_bytes())?;
    let (now, before) = (now.size, seen.size);
    Ok(Err(format!(
        "the log of days with {now} days does not continue the {before} days seen before; {} and {} prove this",
        path.display(),
        other.display()
    )))
}

/// The leaves of the requested days; an error if there are none.
fn select_days(
    history: &DaysHistory,
    from: Option<Day>,
    to: Option<Day>,
) -> Result<Vec<DayLeaf>, Failure> {
    let within = |leaf: &&DayLeaf| {
        from.is_none_or(|from| leaf.day >= from) && to.is_none_or(|to| leaf.day <= to)
    };
    let leaves: Vec<DayLeaf> = history.leaves.iter().filter(within).copied().collect();
    let ends = history.leaves.first().zip(history.leaves.last());
    match ends {
        Some(_) if !leaves.is_empty() => Ok(leaves),
        Some((first, last)) => {
            let detail = format!(
                "no requested day is closed; closed days are {} to {}",
                first.day, last.day
            );
            let code = match from {
                Some(from) if from > last.day => ProblemCode::AfterSeries,
                _ => ProblemCode::BeforeSeries,
            };
            Err(Problem::new(code, detail).hint("a day closes 24 hours after its end").into())
        }
        None => {
            let problem = Problem::new(ProblemCode::NoSnapshotYet, "the log has no closed day yet");
            Err(problem.hint("a day closes 24 hours after its end").into())
        }
    }
}

/// The source of the log's files.
enum Files {
    Folder(PathBuf),
    Url(Box<LogFiles>),
}

impl Files {
    fn from_log(log: &LogAt) -> Result<Self, Failure> {
        match log {
            LogAt::Folder(path) => Ok(Self::Folder(path.clone())),
            LogAt::Url(url) => Ok(Self::Url(Box::new(LogFiles::at(address(url)?)?))),
        }
    }

    fn name(&self, file: &LogFile) -> String {
        match self {
            Self::Folder(path) => path.join(file.to_string()).display().to_string(),
            Self::Url(files) => files.url(file),
        }
    }

    fn bytes(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, Failure> {
        match self {
            Self::Url(files) => Ok(files.bytes(file, most)?),
            Self::Folder(path) => {
                let path = path.join(file.to_string());
                let read =
                    read_within(&path, most as u64).map_err(|error| io_failure(&path, &error))?;
                if read.as_ref().is_some_and(|bytes| bytes.len() > most) {
                    let detail =
                        format!("{} is larger than the limit for this file", path.display());
                    return Err(unreadable(detail).into());
                }
                Ok(read)
            }
        }
    }

    fn require_bytes(&self, file: &LogFile, most: usize) -> Result<Vec<u8>, Failure> {
        let absent = || unreadable(format!("{} does not exist", self.name(file)));
        Ok(self.bytes(file, most)?.ok_or_else(absent)?)
    }

    fn own_keys(&self) -> Result<Vec<VerifierKey>, Failure> {
        let file = LogFile::VerifierKey;
        let text = self.require_bytes(&file, MAX_KEY_FILE_BYTES)?;
        keys_from_lines(&text)
            .map_err(|error| unreadable(format!("{}: {error}", self.name(&file))).into())
    }

    /// The log of days with its signed checkpoint; the inner error says why it is not valid.
    fn history(
        &self,
        keys: &[VerifierKey],
    ) -> Result<Result<(String, DaysHistory), String>, Failure> {
        let file = LogFile::Days(DaysFile::Checkpoint);
        let Some(note) = self.bytes(&file, MAX_NOTE_BYTES)? else {
            let detail =
                format!("{} does not exist: no closed days are published", self.name(&file));
            let hint = "operators publish closed days with [evidence] days = true, or `exitgap-server days`";
            return Err(unreadable(detail).hint(hint).into());
        };
        let Ok(note) = String::from_utf8(note) else {
            return Ok(Err("days/checkpoint is not UTF-8".to_owned()));
        };
        let mut failed = None;
        let read = DaysHistory::from_log(&note, keys, |tile| {
            let most = usize::try_from(tile.width()).unwrap_or(usize::MAX);
            let most = most.saturating_mul(MAX_DAY_LEAF_BYTES + 2);
            self.require_bytes(&LogFile::Days(DaysFile::Tile(tile)), most).map_err(|failure| {
                let words = failure.words();
                failed = Some(failure);
                words
            })
        });
        match failed {
            Some(failure) => Err(failure),
            None => Ok(read.map(|history| (note, history)).map_err(|error| error.to_string())),
        }
    }
}

#[derive(Default)]
struct Counts {
    files: u64,
    kept: u64,
    bytes: u64,
    rows: u64,
}

/// The days being downloaded.
struct Taken<'a> {
    files: &'a Files,
    out: &'a Path,
    pools: &'a [PoolId],
    counts: Counts,
}

impl Taken<'_> {
    /// Downloads a day; returns why it is not valid, if so.
    fn day(&mut self, leaf: &DayLeaf, origin: &Origin) -> Result<Option<String>, Failure> {
        let folder = self.out.join(leaf.day.to_string());
        let name = LogFile::Days(DaysFile::Day(leaf.day, DayFile::Manifest));
        let bytes = self.files.require_bytes(&name, MAX_DAY_MANIFEST_BYTES)?;
        let found = DayManifest::hash_of(&bytes);
        if found != leaf.manifest {
            let expected = leaf.manifest;
            return Ok(Some(format!(
                "{name} has the hash {found}, the log of days has {expected}"
            )));
        }
        let manifest = match DayManifest::from_canonical(&bytes) {
            Ok(manifest) if manifest.day == leaf.day => manifest,
            Ok(manifest) => return Ok(Some(format!("{name} is of {}", manifest.day))),
            Err(error) => return Ok(Some(format!("{name}: {error}"))),
        };
        let of_log = manifest.log().and_then(|log| days_origin(&log.origin));
        if of_log.as_ref() != Ok(origin) {
            return Ok(Some(format!("{name} is from a different log than its log of days")));
        }
        fs::create_dir_all(&folder).map_err(|error| io_failure(&folder, &error))?;
        let pools = (!self.pools.is_empty()).then_some(self.pools);
        for file in manifest.files_of(pools) {
            if let Some(wrong) = self.file(leaf.day, file, &folder)? {
                return Ok(Some(wrong));
            }
        }
        put(&folder.join(DayFile::Manifest.to_string()), &bytes)?;
        self.counts.files += 1;
        self.counts.bytes += bytes.len() as u64;
        Ok(None)
    }

    fn file(&mut self, day: Day, file: &FileRef, folder: &Path) -> Result<Option<String>, Failure> {
        let path = folder.join(file.file.to_string());
        let most = usize::try_from(file.bytes).unwrap_or(usize::MAX);
        let here = read_within(&path, file.bytes).map_err(|error| io_failure(&path, &error))?;
        if here.as_ref().is_some_and(|bytes| FileRef::hash_of(bytes) == file.sha256) {
            self.counts.kept += 1;
        } else {
            let name = LogFile::Days(DaysFile::Day(day, file.file));
            let bytes = self.files.require_bytes(&name, most)?;
            let (length, found) = (bytes.len() as u64, FileRef::hash_of(&bytes));
            if (length, found) != (file.bytes, file.sha256) {
                let FileRef { bytes, sha256, .. } = file;
                return Ok(Some(format!(
                    "{name} has {length} bytes with hash {found}, the day's manifest has {bytes} bytes with hash {sha256}"
                )));
            }
            put(&path, &bytes)?;
        }
        self.counts.files += 1;
        self.counts.bytes += file.bytes;
        if matches!(file.file, DayFile::Snapshots(_)) {
            self.counts.rows += file.rows;
        }
        Ok(None)
    }
}

/// Reads at most one byte more than `most`; `None` if the file does not exist.
fn read_within(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes a file completely or not at all.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_output(path, bytes).map_err(|error| io_failure(path, &error))
}

fn io_failure(path: &Path, error: &io::Error) -> Failure {
    unreadable(format!("{}: {}", path.display(), explained(error))).into()
}

/// A progress bar on stderr, shown only on a terminal.
fn progress(days: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} days, {eta} left");
    ProgressBar::new(days).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print_text(report: &ExportReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let number = |number: u64| group_digits(&number.to_string());
    let (days, closed) = (report.days, report.days_closed);
    let origin = report.origin.as_deref().map(printable).unwrap_or_default();
    let to = printable(&report.out);
    if let Some(fault) = &report.fault {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        writeln!(
            out,
            "{bold}The log of days {origin}{bold:#}: {red}INVALID: a check failed{red:#}."
        )?;
        writeln!(out, "{:<16}{}", "what", printable(fault))?;
    }
    writeln!(out, "{bold}{days} of {closed} closed days of {origin}{bold:#} are in {to}.")?;
    writeln!(
        out,
        "{:<16}{} files, {} bytes, {} rows; {} already present",
        "held",
        number(report.files),
        number(report.bytes),
        number(report.rows),
        number(report.kept),
    )?;
    let whose = if report.keys_trusted { "trusted" } else { "the log's own" };
    for key in &report.keys {
        writeln!(out, "{:<16}{} ({whose})", "key", printable(key))?;
    }
    if report.fault.is_none() {
        writeln!(
            out,
            "Each file matches the signed log of days; `exitgap audit <day's folder>` recomputes its content."
        )?;
    }
    if !report.keys_trusted {
        anstream::eprintln!(
            "The signature was checked with the log's own key. Compare that key with a copy from a place you trust, then pass it with --trust."
        );
    }
    Ok(())
}
