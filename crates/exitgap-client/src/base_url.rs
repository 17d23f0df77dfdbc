//! A service's base URL.

use core::fmt;
use core::str::FromStr;

use exitgap_api::{Problem, invalid_parameter};

/// A service's base URL, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Whether the service is reached over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl FromStr for BaseUrl {
    type Err = Problem;
    fn from_str(text: &str) -> Result<Self, Problem> {
        let url = text.trim().trim_end_matches('/');
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let plain = |host: &str| {
            let stops = |c: char| c.is_whitespace() || c.is_control() || "?#@\\".contains(c);
            !host.is_empty() && !host.starts_with('/') && !host.contains(stops)
        };
        if host.is_some_and(plain) {
            return Ok(Self(url.to_owned()));
        }
        let shown: String = text.chars().take(80).collect();
        let detail = format!("api: {shown:?} is not the address of a service");
        let hint = "use an address such as https://exitgap.example, without user name, password, query or fragment";
        Err(invalid_parameter("api", &detail, hint))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
