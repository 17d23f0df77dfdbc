//! `exitgap mcp`: the tools for agents on standard input and output. What a service holds is computed
//! and verified here, on the machine of whoever asks.

mod remote;

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
    let ended = match &args.api {
        Some(url) => {
            let remote = Remote::new(url, keys, args.kept.clone())?;
            runtime.block_on(serve(remote))
        }
        None => Ok(()),
    };
    // What a tool still waits for is wanted by nobody any more.
    runtime.shutdown_background();
    ended
}

async fn serve(backend: impl Backend) -> Result<(), Failure> {
    Ok(stdio::serve(Tools::new(backend)).await?)
}
