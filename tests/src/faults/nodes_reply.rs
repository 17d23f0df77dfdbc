//! HTTP replies of a node, also those that no correct server sends.

use std::io::Write;
use std::net::TcpStream;

/// What a client gets instead of, or as, a node's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An HTTP message.
    Message(Message),
    /// The connection ends without a byte.
    Close,
    /// Nothing, until the client gives up.
    Hang,
}

/// An HTTP message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its status.
    pub status: u16,
    /// Its headers besides those of every message.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Its body.
    pub body: Vec<u8>,
    /// The length that it declares.
    pub length: Length,
}

/// The length that a message declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The body's.
    True,
    /// Another one.
    False(u64),
    /// None: the body ends with the connection.
    Absent,
}

impl Reply {
    /// A correct message with this body.
    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body)
    }

    /// The same with another status.
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let (headers, body, length) = (Vec::new(), body.into(), Length::True);
        Self::Message(Message { status, headers, body, length })
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        if let Self::Message(message) = &mut self {
            message.headers.push((name, value));
        }
        self
    }

    /// The same with another declared length.
    #[must_use]
    pub fn declaring(mut self, length: Length) -> Self {
        if let Self::Message(message) = &mut self {
            message.length = length;
        }
        self
    }

    /// The bytes on the wire; `None` if there are none.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let Self::Message(Message { status, headers, body, length }) = self else { return None };
        let more: String =
            headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
        let length = match length {
            Length::True => format!("Content-Length: {}\r\n", body.len()),
            Length::False(bytes) => format!("Content-Length: {bytes}\r\n"),
            Length::Absent => String::new(),
        };
        let head = format!(
            "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nConnection: close\r\n\
             {more}{length}\r\n"
        );
        Some([head.as_bytes(), body].concat())
    }

    /// Sends it, and ends the connection.
    pub fn send(&self, mut client: &TcpStream) -> std::io::Result<()> {
        match self {
            // The client closes the connection once it has waited long enough.
            Self::Hang => std::io::Read::read(&mut client, &mut [0]).map(drop),
            Self::Close => Ok(()),
            Self::Message(_) => client.write_all(&self.bytes().unwrap_or_default()),
        }
    }
}

/// A gzip file of these bytes.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut file = HEAD.to_vec();
    file.extend(miniz_oxide::deflate::compress_to_vec(bytes, 6));
    file.extend(crc32(bytes).to_le_bytes());
    file.extend(length.to_le_bytes());
    file
}

/// The checksum of a gzip file, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_gzip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_message_declares_the_length_that_it_is_told_to() {
        let text = |reply: Reply| String::from_utf8(reply.bytes().unwrap()).unwrap();
        let reply = Reply::status(503, "down").with("Retry-After", "1");
        assert!(text(reply.clone()).ends_with("Retry-After: 1\r\nContent-Length: 4\r\n\r\ndown"));
        assert!(text(reply.clone().declaring(Length::False(9))).contains("Content-Length: 9\r\n"));
        assert!(!text(reply.declaring(Length::Absent)).contains("Content-Length"));
        assert_eq!(Reply::Hang.bytes(), None);
    }
}
