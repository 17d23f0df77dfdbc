//! One service behind two hosts: one for the API, one for everything else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};

use crate::scenes::service::{Recorded, Service, recorded};

/// One of the service's hosts: which requests it accepts, and which it received.
pub struct Host {
    address: SocketAddr,
    behind: Arc<OnceLock<SocketAddr>>,
    pub refused: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// Forwards requests whose target `serves` accepts; answers others with 404.
    fn start(serves: fn(&str) -> bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let behind = Arc::new(OnceLock::new());
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (to, log) = (Arc::clone(&behind), Arc::clone(&refused));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (to, log) = (Arc::clone(&to), Arc::clone(&log));
                std::thread::spawn(move || {
                    // A client that hangs up only ends its own connection.
                    let _ = forward(stream.unwrap(), *to.wait(), serves, &log);
                });
            }
        });
        Self { address, behind, refused }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Forwards one request and returns its answer.
fn forward(
    mut client: TcpStream,
    to: SocketAddr,
    serves: fn(&str) -> bool,
    refused: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && head.len() < 1 << 16 {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
    if !serves(&target) {
        refused.lock().unwrap().push(target);
        return client.write_all(
            b"HTTP/1.1 404 Not Found\r\naccess-control-allow-origin: *\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    // The service ends its answer by closing the connection.
    let kept = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
    let mut head: Vec<&str> = text.trim_end().lines().filter(kept).collect();
    head.extend(["Connection: close", "\r\n"]);
    let mut service = TcpStream::connect(to)?;
    service.write_all(head.join("\r\n").as_bytes())?;
    std::io::copy(&mut service, &mut client)?;
    Ok(())
}

/// The API host, the web host, and the service behind both.
pub async fn scene() -> (Recorded, Host, Host, Service) {
    let api = Host::start(|target| target.starts_with("/v1/"));
    let web = Host::start(|target| !target.starts_with("/v1/"));
    let recorded = recorded(3).await;
    let (base_url, web_url) = (api.url(), web.url());
    let variables = [("EXITGAP_HTTP_BASE_URL", &*base_url), ("EXITGAP_HTTP_WEB_URL", &*web_url)];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    api.behind.set(service.address).unwrap();
    web.behind.set(service.address).unwrap();
    (recorded, api, web, service)
}
