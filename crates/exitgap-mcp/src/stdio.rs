//! The tools on standard input and output, one JSON message per line, for clients that start the server on the same
//! machine.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::{Backend, Tools};

/// Serves until standard input ends.
pub async fn serve<B: Backend>(tools: Tools<B>) -> io::Result<()> {
    let serving = match tools.serve(stdio_pipes()).await {
        Ok(serving) => serving,
        // A client that disconnects before its first message needs no answer.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    serving.waiting().await.map(drop).map_err(io::Error::other)
}
