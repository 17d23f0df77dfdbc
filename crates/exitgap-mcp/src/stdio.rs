//! The tools on standard input and output, one JSON message a line: how a client on the same machine
//! starts a server.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::{Backend, Tools};

/// Serves until standard input ends.
pub async fn serve<B: Backend>(tools: Tools<B>) -> io::Result<()> {
    let serving = match tools.serve(stdio_pipes()).await {
        Ok(serving) => serving,
        // A client that goes before it said anything wants nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    serving.waiting().await.map(drop).map_err(io::Error::other)
}
