//! Where events may be sent: public addresses over TLS, and networks that the operator named.
//!
//! Anybody may name an address for their events, and this process can reach more than anybody: the machine itself, its
//! neighbours, a cloud's metadata. So the address is parsed as it will be used; what stands for a host in digits is
//! checked as it stands; a name is looked up **at each attempt**, and the connection is made to what was checked, or
//! not at all. Nothing is followed elsewhere.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The ports of an address that is not in a network of the operator's own.
const PORTS: [u16; 2] = [443, 8443];

/// What is no public address, of version 4: the registry of special purposes, and what is not one host.
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

/// Of version 6: within what is given out at all, what is special or holds an address of version 4.
const GIVEN_OUT_6: &str = "2000::/3";
const NOT_PUBLIC_6: [&str; 5] =
    ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

/// Whether an address is of the public internet.
pub fn is_public(ip: IpAddr) -> bool {
    let within =
        |network: &str| network.parse::<IpNet>().is_ok_and(|network| network.contains(&ip));
    match ip {
        IpAddr::V4(_) => !NOT_PUBLIC_4.iter().any(|network| within(network)),
        IpAddr::V6(_) => within(GIVEN_OUT_6) && !NOT_PUBLIC_6.iter().any(|network| within(network)),
    }
}

/// Why nothing is sent to an address. What a name stands for is not told: that is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotPermitted {
    /// It is no address of the web.
    #[error("it is not a URL such as https://hooks.example/exits")]
    Form,
    /// It carries what would be told to others.
    #[error("it contains a user name, a password or a fragment")]
    Extra,
    /// It is another port, or without TLS.
    #[error("it does not use https at port 443 or 8443")]
    Port,
    /// It is not of the public internet.
    #[error("its host is not only at public addresses")]
    NotPublic,
    /// Nobody knows it.
    #[error("its host name cannot be resolved")]
    Unknown,
}

/// An address that events may be sent to, as long as its host stays what it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermittedUrl {
    /// The address.
    pub url: Url,
    /// Its host.
    pub host: String,
    /// Whether it must be in a network of the operator's own.
    pub own: bool,
}

/// The networks of the operator's own.
#[derive(Debug, Clone, Default)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// These networks.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self(allowed)
    }

    /// Whether an address may be connected to; `own`: only in a network of the operator's.
    pub fn permits(&self, ip: IpAddr, own: bool) -> bool {
        self.0.iter().any(|network| network.contains(&ip)) || (!own && is_public(ip))
    }

    /// Checks an address as it was given.
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

/// Looks names up.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses of a name.
    fn lookup(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>>;
}

/// As the system does.
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

/// Looks names up, and gives addresses only where all of them may be connected to.
#[derive(Clone)]
pub struct GuardedResolver {
    lookup: Arc<dyn Lookup>,
    networks: Networks,
    own: bool,
}

impl GuardedResolver {
    /// Over a lookup; `own`: only in networks of the operator's own.
    pub fn new(lookup: Arc<dyn Lookup>, networks: Networks, own: bool) -> Self {
        Self { lookup, networks, own }
    }

    /// The addresses of a name, all of which may be connected to.
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
