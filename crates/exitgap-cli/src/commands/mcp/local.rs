//! The tools' answers from a recorder's database, which may go on being written.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use exitgap_api::VerifiedBy;
use exitgap_mcp::FromStore;
use exitgap_ops::{Bounds, Service, Urls};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::source::{self, now_s};

/// How often is looked whether a slot was sealed.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What addresses begin with where no service has any: `verify_evidence` takes them back.
const NOWHERE: &str = "exitgap:";

/// The operations over the database in its current state.
pub async fn service(path: &Path) -> Result<Service, Failure> {
    // What cannot be opened is told with its reason.
    source::open(path)?;
    let urls = Urls { base: NOWHERE.to_owned(), web: NOWHERE.to_owned() };
    let service = Service::new(path.to_owned(), urls, Arc::new(now_s), Bounds::default());
    service.refresh().await?;
    Ok(service)
}

/// Opens the database, and looks into it now and then.
pub async fn open(path: &Path) -> Result<(FromStore, JoinHandle<()>), Failure> {
    let service = Arc::new(service(path).await?);
    let looking = service.clone();
    let looking = tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // What cannot be read now is asked for again, and whoever asks is told.
            let _ = looking.refresh().await;
        }
    });
    Ok((FromStore::new(service, VerifiedBy::Here), looking))
}
