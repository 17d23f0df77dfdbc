//! Where events may be sent: to public addresses over TLS, and to networks the operator configured.
//!
//! Any client may enter an address for its events, and this process can reach hosts that the client cannot: the machine
//! itself, its neighbours, a cloud's metadata service. So the address is parsed exactly as it will be used; a literal
//! IP address is checked directly; a host name is resolved **at each attempt**, and the connection goes only to an
//! address that passed the check. Redirects are not followed.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Allowed ports outside the operator's own networks.
const PORTS: [u16; 2] = [443, 8443];

/// IPv4 ranges that are not public: the special-purpose registry, and ranges that are not a single host.
const NOT_PUBLIC_4: [&str; 19] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
];

/// IPv6: the allocated global unicast range; within it, the ranges that are special or embed an IPv4 address are
/// excluded.
const GIVEN_OUT_6: &str = "2000::/3";
const NOT_PUBLIC_6: [&str; 5] =
    ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

/// Whether an address belongs to the public internet.
pub fn is_public(ip: IpAddr) -> bool {
    let within =
        |network: &str| network.parse::<IpNet>().is_ok_and(|network| network.contains(&ip));
    match ip {
        IpAddr::V4(_) => !NOT_PUBLIC_4.iter().any(|network| within(network)),
        IpAddr::V6(_) => within(GIVEN_OUT_6) && !NOT_PUBLIC_6.iter().any(|network| within(network)),
    }
}

/// Why an address is not permitted. The message does not reveal what a name resolves to, because that could disclose
/// the operator's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotPermitted {
    /// Not a valid web address.
    #[error("it is not a URL such as https://hooks.example/exits")]
    Form,
    /// The address contains credentials or other parts that must not be passed on.
    #[error("it contains a user name, a password or a fragment")]
    Extra,
    /// The port is not allowed, or the address does not use TLS.
    #[error("it does not use https at port 443 or 8443")]
    Port,
    /// The host is not on the public internet.
    #[error("its host is not only at public addresses")]
    NotPublic,
    /// The name could not be resolved.
    #[error("its host name cannot be resolved")]
    Unknown,
}

/// An address to which events may be sent, as long as its host still resolves to permitted addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermittedUrl {
    /// The address.
    pub url: Url,
    /// Its host.
    pub host: String,
    /// Whether the host must be in one of the operator's own networks.
    pub own: bool,
}

/// The operator's own networks.
#[derive(Debug, Clone, Default)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// Creates the list of networks.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self(allowed)
    }

    /// Whether connections to an address are allowed; with `own`, only addresses in the operator's networks.
    pub fn permits(&self, ip: IpAddr, own: bool) -> bool {
        self.0.iter().any(|network| network.contains(&ip)) || (!own && is_public(ip))
    }

    /// Checks an address as entered.
    pub fn permit(&self, text: &str) -> Result<PermittedUrl, NotPermitted> {
        let url = Url::parse(text).map_err(|_| NotPermitted::Form)?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(NotPermitted::Extra);
        }
        let tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(NotPermitted::Form),
        };
        let port = url.port_or_known_default().ok_or(NotPermitted::Form)?;
        let own = !tls || !PORTS.contains(&port);
        if own && self.0.is_empty() {
            return Err(NotPermitted::Port);
        }
        let literal = match url.host().ok_or(NotPermitted::Form)? {
            Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
            Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
            Host::Domain("") => return Err(NotPermitted::Form),
            Host::Domain(_) => None,
        };
        if let Some(ip) = literal
            && !self.permits(ip, own)
        {
            return Err(if own { NotPermitted::Port } else { NotPermitted::NotPublic });
        }
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
        Ok(PermittedUrl { url, host, own })
    }
}

/// Resolves host names.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses of a name.
    fn lookup(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>>;
}

/// Resolves names with the system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Resolves names, and returns addresses only if connections to all of them are allowed.
#[derive(Clone)]
pub struct GuardedResolver {
    lookup: Arc<dyn Lookup>,
    networks: Networks,
    own: bool,
}

impl GuardedResolver {
    /// Wraps a lookup; with `own`, only addresses in the operator's own networks are allowed.
    pub fn new(lookup: Arc<dyn Lookup>, networks: Networks, own: bool) -> Self {
        Self { lookup, networks, own }
    }

    /// The addresses of a name, if all of them are permitted.
    pub async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, NotPermitted> {
        let found = self.lookup.lookup(name).await.map_err(|_| NotPermitted::Unknown)?;
        if found.is_empty() {
            return Err(NotPermitted::Unknown);
        }
        if !found.iter().all(|ip| self.networks.permits(*ip, self.own)) {
            return Err(NotPermitted::NotPublic);
        }
        Ok(found)
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guarded = self.clone();
        Box::pin(async move {
            let found = guarded.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}
