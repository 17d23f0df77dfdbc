//! `/v1/export`: lists the published closed days, and what is needed to verify them. The files themselves are files of
//! the log (`log_files.rs`).

use std::sync::Arc;

use exitgap_api::operations::ExportAsked;
use exitgap_api::{Export, ExportedDay, Problem, ProblemCode};
use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::series::Day;
use exitgap_store::LogFolder;
use exitgap_store::days::{DaysError, PublishedDays};

use super::App;

/// Maximum number of days per page.
const MAX_DAYS: u64 = 31;

/// The requested days.
pub async fn answer(app: Arc<App>, asked: ExportAsked) -> Result<Export, Problem> {
    let folder = LogFolder::new(app.log_folder.to_path_buf());
    let log_url = format!("{}/log", app.service.urls().web);
    let read = app.service.blocking_pool().run(move || page(&folder, &log_url, &asked)).await?;
    read.map_err(|error| {
        tracing::error!(%error, "closed days could not be read");
        Problem::new(ProblemCode::SourceUnreadable, "the closed days could not be read")
    })
}

fn page(folder: &LogFolder, log_url: &str, asked: &ExportAsked) -> Result<Export, DaysError> {
    let Some(days) = PublishedDays::from_folder(folder)? else {
        return Ok(Export { checkpoint: None, days_closed: 0, days: Vec::new(), next_from: None });
    };
    let mut export = Export {
        checkpoint: Some(days.note.clone()),
        days_closed: days.history.checkpoint.size,
        days: Vec::new(),
        next_from: None,
    };
    let (Some(first), Some(last)) = (days.history.leaves.first(), days.history.leaves.last())
    else {
        return Ok(export);
    };
    let from = asked.from.map_or(first.day, |from| from.max(first.day));
    let to = asked.to.map_or(last.day, |to| to.min(last.day));
    let wanted = to.days_after(from).map_or(0, |days| days + 1);
    for index in 0..wanted.min(MAX_DAYS) {
        let Some(leaf) = from.later(index).and_then(|day| days.history.leaf(day)) else { break };
        let manifest: DayManifest = days.manifest(leaf)?;
        export.days.push(ExportedDay::from_manifest(
            &manifest,
            leaf.manifest,
            log_url,
            &asked.pools,
        ));
    }
    if wanted > MAX_DAYS {
        export.next_from = from.later(MAX_DAYS).map(|day: Day| day.to_string());
    }
    Ok(export)
}
