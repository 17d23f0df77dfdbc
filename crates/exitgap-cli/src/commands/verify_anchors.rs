//! Loads days' anchors from the given sources: a log's folder, a service, or a file of one day.

use std::fs;
use std::path::Path;

use exitgap_api::invalid_parameter;
use exitgap_core::ids::{BlockHash, Caip2, ChainSlug};
use exitgap_core::log_folder::LogFile;
use exitgap_core::proof::{AnchorChain, AnchorChainError, Anchors, MAX_ANCHOR_BYTES};
use exitgap_core::series::Slot;

use crate::failure::Failure;
use crate::source::{self, api, now_s, unreadable};

/// Maximum number of days: more than two years.
const MAX_DAYS: usize = 800;

/// Maximum number of consecutive days that a service may lack.
const MAX_GAP_DAYS: u32 = 7;

/// Reads all days from the given sources, starting with the slot's day.
pub fn days(named: &[String], chain: &ChainSlug, slot: Slot) -> Result<Vec<Anchors>, Failure> {
    let mut days = Vec::new();
    for name in named {
        if name.contains("://") {
            days.extend(of_service(name, chain, slot)?);
        } else if Path::new(name).is_dir() {
            days.extend(of_folder(Path::new(name), chain, slot)?);
        } else {
            let bytes = source::read_named("anchors", Path::new(name), MAX_ANCHOR_BYTES)?;
            days.push(parse_anchors(name, &bytes)?);
        }
        if days.len() > MAX_DAYS {
            return Err(too_many());
        }
    }
    Ok(days)
}

fn too_many() -> Failure {
    let detail = format!("anchors: more than {MAX_DAYS} days");
    let hint = "give fewer days: from the slot's day up to a day whose block you trust";
    invalid_parameter("anchors", &detail, hint).into()
}

fn parse_anchors(name: &str, bytes: &[u8]) -> Result<Anchors, Failure> {
    let wrong = |error| unreadable(format!("anchors {name}: {error}"));
    Ok(Anchors::from_bytes(bytes).map_err(wrong)?)
}

fn absent(name: &str, chain: &ChainSlug, slot: Slot) -> Failure {
    let chain = chain.as_str();
    let detail = format!("anchors {name}: no anchors for chain {chain} from day {} on", slot.day());
    let hint = "recorders that are configured for it write a day's anchors once the day is over and final; the chain may have another name there";
    unreadable(detail).hint(hint).into()
}

/// The days in a log's folder; other files are ignored.
fn of_folder(folder: &Path, chain: &ChainSlug, slot: Slot) -> Result<Vec<Anchors>, Failure> {
    let name = folder.display().to_string();
    let path = folder.join("anchors").join(chain.as_str());
    let files = fs::read_dir(&path).into_iter().flatten();
    let files = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let mut numbers: Vec<u32> = files
        .filter_map(|file| match format!("anchors/{}/{file}", chain.as_str()).parse() {
            Ok(LogFile::Anchors(_, day)) if day >= slot.day() => Some(day),
            _ => None,
        })
        .collect();
    if numbers.is_empty() {
        return Err(absent(&name, chain, slot));
    }
    if numbers.len() > MAX_DAYS {
        return Err(too_many());
    }
    numbers.sort_unstable();
    let one = |day: &u32| {
        let file = folder.join(LogFile::Anchors(chain.clone(), *day).to_string());
        let bytes = source::read_named("anchors", &file, MAX_ANCHOR_BYTES)?;
        parse_anchors(&file.display().to_string(), &bytes)
    };
    numbers.iter().map(one).collect()
}

/// The days that a service has, up to today. Missing days are skipped, because a newer one may link to days before
/// them; after several missing days the search ends.
fn of_service(url: &str, chain: &ChainSlug, slot: Slot) -> Result<Vec<Anchors>, Failure> {
    let today = Slot::at_or_before(now_s()).map_or(slot.day(), Slot::day);
    let last = today.max(slot.day().saturating_add(1));
    if usize::try_from(last - slot.day()).is_ok_and(|days| days >= MAX_DAYS) {
        return Err(too_many());
    }
    let files = api::with(url, async |client| {
        let (mut files, mut absent) = (Vec::new(), 0);
        for day in slot.day()..=last {
            let file = client.anchors(chain, day).await?;
            absent = if file.is_some() { 0 } else { absent + 1 };
            files.extend(file.map(|file| (day, file)));
            if absent > MAX_GAP_DAYS {
                break;
            }
        }
        Ok(files)
    })?;
    if files.is_empty() {
        return Err(absent(url, chain, slot));
    }
    files.iter().map(|(day, file)| parse_anchors(&format!("{url}, day {day}"), file)).collect()
}

/// The days that follow from a trusted block, at which one of them begins: newer ones are left out.
pub fn follow(
    chain: Caip2,
    trusted: BlockHash,
    mut days: Vec<Anchors>,
) -> Result<AnchorChain, Failure> {
    let begin = days.iter().find(|day| day.from.hash == trusted).map(|day| day.from.number);
    days.retain(|day| begin.is_none_or(|begin| day.from.number <= begin));
    AnchorChain::follow(chain, trusted, days).map_err(|error: AnchorChainError| {
        let hint = "give the files of every day from that block back to the slot's day, and the hash of the block at which one of them begins";
        invalid_parameter("anchors", &format!("anchors: {error}"), hint).into()
    })
}
