//! HTTP messages with a declared length, parsed from a stream by the test proxies.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;

/// A request or a response.
#[derive(Debug)]
pub struct Message {
    /// Its first line.
    pub first_line: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Message {
    /// Reads a message. If it ends before its body begins, the error is `UnexpectedEof`.
    pub fn read(stream: &TcpStream) -> std::io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut first_line = String::new();
        reader.read_line(&mut first_line)?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Self { first_line, body })
    }
}
