//! A connection to a server with faults: sent data is delayed, or answers never arrive.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What happens to sent data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It gets through.
    Open,
    /// Each piece is delayed by this much.
    Slow(Duration),
    /// It does not arrive and no one is notified, until the connection is open again; then it arrives.
    HalfOpen,
    /// Requests get through. Answers do not, and the connection ends with the first one.
    Answerless,
}

/// A TCP proxy in front of one server.
pub struct Wire {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    way: Mutex<Way>,
    changed: Condvar,
    /// Number of pieces that were delayed or dropped.
    withheld: AtomicU64,
    /// Current and former clients.
    clients: Mutex<Vec<TcpStream>>,
}

impl Wire {
    /// A connection to the server at this port of this machine. Its threads end with the process.
    pub fn to(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let shared = Arc::new(Shared {
            server: SocketAddr::from(([127, 0, 0, 1], port)),
            way: Mutex::new(Way::Open),
            changed: Condvar::new(),
            withheld: AtomicU64::new(0),
            clients: Mutex::default(),
        });
        let wire = Self { address: listener.local_addr()?, shared: shared.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // If the server is down, the connection ends.
                let Ok(server) = TcpStream::connect(shared.server) else { continue };
                let _ = join(&shared, &client, &server);
            }
        });
        Ok(wire)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Sets the mode, also for data in transit.
    pub fn set(&self, way: Way) {
        *self.shared.way.lock().unwrap_or_else(PoisonError::into_inner) = way;
        self.shared.changed.notify_all();
    }

    /// Cuts the current connections; returns their number.
    pub fn cut(&self) -> usize {
        let mut clients = self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that has ended is not counted.
        clients.drain(..).filter(|client| client.shutdown(Shutdown::Both).is_ok()).count()
    }

    /// How many pieces were withheld, temporarily or permanently.
    pub fn withheld(&self) -> u64 {
        self.shared.withheld.load(Ordering::Relaxed)
    }
}

/// Copies data in both directions until either ends.
fn join(shared: &Arc<Shared>, client: &TcpStream, server: &TcpStream) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut clients = shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
    clients.push(client.try_clone()?);
    drop(clients);
    server.set_nodelay(true)?;
    let ways = [
        (client.try_clone()?, server.try_clone()?, false),
        (server.try_clone()?, client.try_clone()?, true),
    ];
    for (from, to, answers) in ways {
        let shared = shared.clone();
        std::thread::spawn(move || {
            // An error ends the connection like its normal end.
            let _ = copy(&shared, &from, &to, answers);
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
    Ok(())
}

fn copy(
    shared: &Shared,
    mut from: &TcpStream,
    mut to: &TcpStream,
    answers: bool,
) -> std::io::Result<()> {
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        let mut way = shared.way.lock().unwrap_or_else(PoisonError::into_inner);
        if *way != Way::Open && (answers || *way != Way::Answerless) {
            shared.withheld.fetch_add(1, Ordering::Relaxed);
        }
        while *way == Way::HalfOpen {
            way = shared.changed.wait(way).unwrap_or_else(PoisonError::into_inner);
        }
        let now = *way;
        drop(way);
        match now {
            Way::Answerless if answers => return Ok(()),
            Way::Slow(by) => std::thread::sleep(by),
            _ => {}
        }
        to.write_all(&piece[..read])?;
    }
}
