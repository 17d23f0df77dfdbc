//! A proxy between a client and a service that changes answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Forwards requests to the service, one per connection, and answers with the result of `change`, which gets the
/// request's head and the complete answer of the service.
pub fn between(
    service: SocketAddr,
    change: impl Fn(&str, Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let change = Arc::new(change);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let change = Arc::clone(&change);
            // Errors are ignored: some tests are about clients that hang up.
            thread::spawn(move || drop(pass(client, service, &*change)));
        }
    });
    address
}

fn pass(
    mut client: TcpStream,
    service: SocketAddr,
    change: &dyn Fn(&str, Vec<u8>) -> Vec<u8>,
) -> std::io::Result<()> {
    let lines = BufReader::new(client.try_clone()?).lines().map_while(Result::ok);
    let mut head = String::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        if !line.to_ascii_lowercase().starts_with("connection:") {
            head.extend([&line, "\r\n"]);
        }
    }
    let mut behind = TcpStream::connect(service)?;
    behind.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    behind.read_to_end(&mut answer)?;
    client.write_all(&change(&head, answer))
}
