//! Checks a request's head: its size, and that there is exactly one `Host`. With two or none, a reverse proxy and this
//! service could see different hosts.

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{Request, Version};
use exitgap_api::{Problem, ProblemCode};

/// Maximum size of a request's head, bytes.
pub const MAX_HEAD_BYTES: usize = 32 << 10;

/// Bytes between a header's name and value, and after it: `: ` and a line break.
const BYTES_PER_HEADER: usize = 4;

/// Other bytes of the head: in the first line two spaces and the version, and two line breaks.
const BYTES_OF_FORM: usize = 14;

/// Why a request's `Host` is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFault {
    /// There is none.
    Absent,
    /// There are several.
    Repeated,
    /// It is not a host with an optional port.
    Invalid,
}

impl From<HostFault> for Problem {
    fn from(fault: HostFault) -> Self {
        let detail = match fault {
            HostFault::Absent => "the request has no Host header",
            HostFault::Repeated => "the request has more than one Host header",
            HostFault::Invalid => "the Host header is not a host with an optional port",
        };
        Self::new(ProblemCode::InvalidParameter, detail)
            .field("host")
            .hint("send exactly one Host header, such as Host: exitgap.example")
    }
}

/// Whether a request's head is too large, not counting optional spaces. The connection's buffer also limits the head
/// before it is parsed, but only to the size of the buffer plus one read.
pub fn is_too_large<B>(request: &Request<B>) -> bool {
    let uri = request.uri();
    let path = uri.path_and_query().map_or(1, |path| path.as_str().len());
    let authority = uri.authority().map_or(0, |authority| authority.as_str().len());
    let line = request.method().as_str().len() + authority + path;
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + BYTES_PER_HEADER);
    line + BYTES_OF_FORM + headers.sum::<usize>() > MAX_HEAD_BYTES
}

/// Requires exactly one valid `Host`. In HTTP/1.0, which some health probes use, it may be absent.
pub fn check_host<B>(request: &Request<B>) -> Result<(), HostFault> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() < Version::HTTP_11 => Ok(()),
        (None, _) => Err(HostFault::Absent),
        (Some(_), Some(_)) => Err(HostFault::Repeated),
        (Some(host), None) => {
            let is_valid = host.to_str().is_ok_and(is_host);
            if is_valid { Ok(()) } else { Err(HostFault::Invalid) }
        }
    }
}

/// Whether a text is a host name or IP address with an optional port. URL syntax also allows characters such as commas.
fn is_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%[]:".contains(&byte);
    let port = text.strip_prefix(authority.host());
    authority.host().bytes().all(of_host)
        && port.is_some_and(|port| matches!(port, "" | ":") || authority.port_u16().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(version: Version, hosts: &[&str]) -> Request<()> {
        let mut request = Request::builder().version(version).uri("/livez");
        for host in hosts {
            request = request.header(HOST, *host);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn a_request_has_exactly_one_host() {
        let check = |hosts: &[&str]| check_host(&request(Version::HTTP_11, hosts));
        for host in ["exitgap.example", "exitgap.example:8080", "127.0.0.1:1", "[::1]:8080"] {
            assert_eq!(check(&[host]), Ok(()), "{host}");
        }
        assert_eq!(check(&[]), Err(HostFault::Absent));
        assert_eq!(check(&["a.example", "b.example"]), Err(HostFault::Repeated));
        assert_eq!(check(&["a.example", "a.example"]), Err(HostFault::Repeated));
        for host in [
            "",
            " ",
            "a.example/path",
            "me@a.example",
            "a b",
            "a.example,b.example",
            "a.example:port",
            "a.example:99999",
        ] {
            assert_eq!(check(&[host]), Err(HostFault::Invalid), "{host:?}");
        }
        assert_eq!(check_host(&request(Version::HTTP_10, &[])), Ok(()));
        let two = request(Version::HTTP_10, &["a.example", "b.example"]);
        assert_eq!(check_host(&two), Err(HostFault::Repeated));
    }

    #[test]
    fn a_head_is_counted_as_it_is_written() {
        // `GET /livez HTTP/1.1`, `host: h`, `x: …` and their line breaks.
        let of = |value: usize| {
            let request = Request::builder().uri("/livez").header(HOST, "h");
            request.header("x", "v".repeat(value)).body(()).unwrap()
        };
        let written = "GET /livez HTTP/1.1\r\nhost: h\r\nx: \r\n\r\n".len();
        assert!(!is_too_large(&of(MAX_HEAD_BYTES - written)));
        assert!(is_too_large(&of(MAX_HEAD_BYTES - written + 1)));
    }
}
