//! What is recorded, asked of a recorder's database or of a service: the same question, read as a service reads it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use exitgap_api::operations::{Given, Operation, Question};
use exitgap_api::{Guards, Problem};
use exitgap_client::{Client, ClientError, Native};
use exitgap_ops::Service;

use crate::arguments::GuardArgs;
use crate::commands::mcp::local;
use crate::failure::Failure;
use crate::source;

/// Where recorded figures come from, and what they must meet.
#[derive(Debug, Args)]
pub struct RecordedArgs {
    /// Read from a recorder's database.
    #[arg(long, env = "EXITGAP_DB", value_name = "FILE", required_unless_present = "api")]
    pub db: Option<PathBuf>,
    /// Ask a service.
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    #[command(flatten)]
    guards: GuardArgs,
}

impl RecordedArgs {
    pub fn guards(&self) -> Result<Guards, Failure> {
        Ok(self.guards.read()?)
    }

    /// Asks whichever is named: a service, or one of one's own on the database.
    pub fn ask<T>(
        &self,
        of_service: impl AsyncFnOnce(&Client<Native>) -> Result<T, ClientError>,
        of_database: impl AsyncFnOnce(&Service) -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        self.ask_of(of_service, |service| service, of_database)
    }

    /// The same, of one's own service made ready first.
    pub fn ask_of<T>(
        &self,
        of_service: impl AsyncFnOnce(&Client<Native>) -> Result<T, ClientError>,
        made_ready: impl FnOnce(Service) -> Service,
        of_database: impl AsyncFnOnce(&Service) -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        if let Some(url) = &self.api {
            return source::api::through(url, source::api::native()?, self.guards()?, of_service);
        }
        // The arguments name one of the two.
        let path = self.db.as_deref().unwrap_or(Path::new(""));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| source::unreadable(error.to_string()))?;
        runtime.block_on(async { Ok(of_database(&made_ready(local::service(path).await?)).await?) })
    }
}

/// A question from what is given by names; what has no value is left out.
pub fn question<'a, Q: Question>(
    operation: Operation,
    given: impl IntoIterator<Item = (&'a str, Option<&'a String>)>,
) -> Result<Q, Failure> {
    let given =
        given.into_iter().filter_map(|(name, value)| Some((name, Cow::from(value?.as_str()))));
    Ok(Q::read(&Given::named(operation.row().parameters, given)?)?)
}
