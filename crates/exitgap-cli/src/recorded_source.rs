//! Recorded data, from a recorder's database or from a service: the same request, parsed as a service parses it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use exitgap_api::operations::{Given, Operation, Question};
use exitgap_api::{Guards, Problem, RowOrder};
use exitgap_client::{Client, ClientError, Native};
use exitgap_ops::Service;

use crate::arguments::GuardArgs;
use crate::commands::mcp::local;
use crate::failure::Failure;
use crate::source;

/// Maximum number of pages of one answer: enough for years of slots, or a hundred thousand pools.
const MOST_PAGES: usize = 2_000;

/// Where recorded figures come from.
#[derive(Debug, Args)]
pub struct RecordedFrom {
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// URL of an exitgap service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
}

/// The same, and what the figures must meet.
#[derive(Debug, Args)]
pub struct RecordedArgs {
    #[command(flatten)]
    pub from: RecordedFrom,
    #[command(flatten)]
    guards: GuardArgs,
}

impl RecordedFrom {
    /// Asks the given source: a service, for answers that meet the guards; or a local service on the database, after
    /// `made_ready` has prepared it.
    pub fn ask_of<T>(
        &self,
        guards: Guards,
        of_service: impl AsyncFnOnce(&Client<Native>) -> Result<T, ClientError>,
        made_ready: impl FnOnce(Service) -> Service,
        of_database: impl AsyncFnOnce(&Service) -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        if let Some(url) = &self.api {
            return source::api::through(url, source::api::native()?, guards, of_service);
        }
        // The arguments give one of the two.
        let path = self.db.as_deref().unwrap_or(Path::new(""));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| source::unreadable(error.to_string()))?;
        runtime.block_on(async { Ok(of_database(&made_ready(local::service(path).await?)).await?) })
    }

    /// Requests page after page up to the last: `ask` takes a page's cursor and returns the next one's. Each page must
    /// begin after the previous one, because a faulty service could otherwise cause endless requests.
    pub fn each_page(
        &self,
        operation: Operation,
        mut ask: impl FnMut(Option<&String>) -> Result<Option<String>, Failure>,
    ) -> Result<(), Failure> {
        let wrong = |why: &str| {
            let source = self.api.as_deref().unwrap_or("the database");
            Err(source::api::not_as_specified(source, operation.template(), why))
        };
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let Some(next) = ask(cursor.as_ref())? else { return Ok(()) };
            // Pages of descending rows continue at earlier slots.
            let begins = |cursor: &String| match RowOrder::of_cursor(cursor) {
                Some((RowOrder::Descending, slot)) => Some(-i64::from(slot.number())),
                _ => cursor.parse::<u32>().ok().map(i64::from),
            };
            let is_later = begins(&next).is_some_and(|next| {
                cursor.as_ref().and_then(begins).is_none_or(|before| next > before)
            });
            if !is_later {
                return wrong("its pages do not continue");
            }
            cursor = Some(next);
        }
        wrong("it returns more pages than this program reads")
    }
}

impl RecordedArgs {
    pub fn guards(&self) -> Result<Guards, Failure> {
        Ok(self.guards.parse_guards()?)
    }

    /// Asks the given source.
    pub fn ask<T>(
        &self,
        of_service: impl AsyncFnOnce(&Client<Native>) -> Result<T, ClientError>,
        of_database: impl AsyncFnOnce(&Service) -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        self.ask_of(of_service, |service| service, of_database)
    }

    /// The same, with a local service that `made_ready` has prepared.
    pub fn ask_of<T>(
        &self,
        of_service: impl AsyncFnOnce(&Client<Native>) -> Result<T, ClientError>,
        made_ready: impl FnOnce(Service) -> Service,
        of_database: impl AsyncFnOnce(&Service) -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        self.from.ask_of(self.guards()?, of_service, made_ready, of_database)
    }
}

/// Parses a request from named values; names without a value are left out.
pub fn question<'a, Q: Question>(
    operation: Operation,
    given: impl IntoIterator<Item = (&'a str, Option<&'a String>)>,
) -> Result<Q, Failure> {
    let given =
        given.into_iter().filter_map(|(name, value)| Some((name, Cow::from(value?.as_str()))));
    Ok(Q::from_parameters(&Given::from_arguments(operation.row().parameters, given)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads from a service whose pages return these cursors, one after the other.
    fn read(mut next: impl FnMut() -> Option<String>) -> (Result<(), Failure>, usize) {
        let from = RecordedFrom { db: None, api: Some("https://exitgap.example".to_owned()) };
        let mut asked = 0;
        let done = from.each_page(Operation::History, |_| {
            asked += 1;
            Ok(next())
        });
        (done, asked)
    }

    #[test]
    fn pages_are_read_to_the_last_and_never_without_end() {
        let told = |cursors: &[&str]| {
            let mut cursors = cursors.iter().map(ToString::to_string);
            read(move || cursors.next())
        };
        let (done, asked) = told(&["10", "11", "4000000000"]);
        assert!(done.is_ok() && asked == 4);
        for cursors in [&["10", "10"][..], &["10", "9"], &["next"], &[""], &["-1"], &["4294967296"]]
        {
            let (done, asked) = told(cursors);
            let said = format!("{:?}", done.unwrap_err());
            assert!(said.contains("do not continue") && said.contains("/v1/history"), "{said}");
            assert_eq!(asked, cursors.len());
        }
        let mut slot = 0_u32;
        let (done, asked) = read(|| {
            slot += 1;
            Some(slot.to_string())
        });
        let said = format!("{:?}", done.unwrap_err());
        assert!(said.contains("more pages") && asked == MOST_PAGES, "{asked} {said}");
    }
}
