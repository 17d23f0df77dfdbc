//! Answers the tools from a recorder's database, which may still be growing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use exitgap_api::VerifiedBy;
use exitgap_mcp::FromStore;
use exitgap_ops::{Bounds, Service, Urls};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::source::{self, now_s};

/// Polling interval for newly sealed slots.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The prefix of addresses if no service is involved: `verify_evidence` accepts them.
const NOWHERE: &str = "exitgap:";

/// The operations over the database in its current state.
pub async fn service(path: &Path) -> Result<Service, Failure> {
    // If the database cannot be opened, this reports the reason.
    source::open(path)?;
    let urls = Urls { base: NOWHERE.to_owned(), web: NOWHERE.to_owned() };
    let service = Service::new(path.to_owned(), urls, Arc::new(now_s), Bounds::default());
    service.refresh().await?;
    Ok(service)
}

/// Opens the database, and polls it.
pub async fn open(path: &Path) -> Result<(FromStore, JoinHandle<()>), Failure> {
    let service = Arc::new(service(path).await?);
    let looking = service.clone();
    let looking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // A failed refresh is repeated, and the tools report errors to their callers.
            let _ = looking.refresh().await;
        }
    });
    Ok((FromStore::new(service, VerifiedBy::Here), looking))
}
