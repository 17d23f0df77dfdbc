//! `exitgap mcp`: the tools for agents on standard input and output. A service's data is computed with and verified
//! here, on the caller's machine.

pub mod local;
mod remote;

use std::path::Path;

use exitgap_api::invalid_parameter;
use exitgap_mcp::{Backend, Tools, stdio};

use crate::arguments::McpArgs;
use crate::failure::Failure;
use crate::source::unreadable;
use crate::trust;

use remote::Remote;

pub fn run(args: &McpArgs) -> Result<(), Failure> {
    let keys = trust::keys(&args.trust.trust)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| unreadable(error.to_string()))?;
    let ended = match (&args.api, &args.db) {
        (Some(url), _) => {
            let remote = Remote::new(url, keys, args.kept.clone())?;
            runtime.block_on(serve(remote))
        }
        (None, _) if !keys.is_empty() => {
            let detail = "trust: a database is checked with its own log's keys";
            Err(invalid_parameter("trust", detail, "use --trust only with --api").into())
        }
        // The arguments give one of the two.
        (None, db) => runtime.block_on(async {
            let path = db.as_deref().unwrap_or(Path::new(""));
            let (backend, looking) = local::open(path).await?;
            let ended = serve(backend).await;
            looking.abort();
            ended
        }),
    };
    // The results that tools still wait for are no longer needed.
    runtime.shutdown_background();
    ended
}

async fn serve(backend: impl Backend) -> Result<(), Failure> {
    Ok(stdio::serve(Tools::new(backend)).await?)
}
