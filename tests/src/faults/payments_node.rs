//! A proxy in front of a node: it forwards a service's requests, and stops the service at a given step of a payment.
//! The steps are the requests between which a service stores something, so the service needs no test code.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::Result;
use crate::message::Message;

/// The step of a payment at which a service is stopped. Each commit lies between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// A payment is verified, but nothing is stored.
    Verifying,
    /// It is claimed, but nothing is signed.
    Claimed,
    /// A transaction is signed, but does not reach the node.
    Signed,
    /// It has reached the node, which has not answered.
    Sent,
    /// It is mined, but the service has not been told.
    Mined,
    /// The service has just been told.
    Told,
}

impl Point {
    /// All of them, in the order of a payment.
    pub const ALL: [Self; 6] =
        [Self::Verifying, Self::Claimed, Self::Signed, Self::Sent, Self::Mined, Self::Told];

    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verifying => "verifying",
            Self::Claimed => "claimed",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Mined => "mined",
            Self::Told => "told",
        }
    }
}

/// Stops a service, completely before it returns.
pub type Stop = Box<dyn FnOnce() + Send>;

/// An order to stop a service once.
pub struct Order {
    /// The step.
    pub point: Point,
    /// After this many transactions reached the node.
    pub after_sent: u32,
    /// At [`Point::Told`]: the delay.
    pub pause: Duration,
    /// The function that stops it.
    pub stop: Stop,
}

/// The proxy, which listens until the process ends.
pub struct Front {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    /// Host and port of the node.
    node: String,
    order: Mutex<Option<Order>>,
}

impl Front {
    /// A proxy in front of the node at this URL.
    pub fn open(node: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let node = node.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let shared = Arc::new(Shared { node, order: Mutex::new(None) });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(std::result::Result::ok) {
                let serving = Arc::clone(&serving);
                // A service that was stopped reads no answer.
                std::thread::spawn(move || drop(serving.serve(&client)));
            }
        });
        Ok(Self { port, shared })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the next order, which is executed once.
    pub fn order(&self, order: Order) {
        *self.shared.order() = Some(order);
    }

    /// Whether the order is still pending.
    pub fn is_waiting(&self) -> bool {
        self.shared.order().is_some()
    }

    /// Cancels the order.
    pub fn forget(&self) {
        *self.shared.order() = None;
    }
}

impl Shared {
    fn order(&self) -> MutexGuard<'_, Option<Order>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the service if the order is for this step; returns whether it did.
    fn reach(&self, point: Point) -> bool {
        let mut waiting = self.order();
        let is_due = |order: &Order| order.point == point && order.after_sent == 0;
        let Some(order) = waiting.take_if(|order| is_due(order)) else { return false };
        std::thread::sleep(order.pause);
        (order.stop)();
        true
    }

    fn count_sent(&self) {
        if let Some(order) = self.order().as_mut() {
            order.after_sent = order.after_sent.saturating_sub(1);
        }
    }

    /// Handles one request of a connection.
    fn serve(&self, mut client: &TcpStream) -> std::io::Result<()> {
        let request = Message::read(client)?.body;
        let asked: Value = serde_json::from_slice(&request)?;
        let method = asked["method"].as_str().unwrap_or_default();
        let before = match method {
            // Only settling calls have a sender account.
            "eth_call" if asked["params"][0]["from"].is_string() => Some(Point::Verifying),
            "eth_getTransactionCount" => Some(Point::Claimed),
            "eth_sendRawTransaction" => Some(Point::Signed),
            _ => None,
        };
        if before.is_some_and(|point| self.reach(point)) {
            return Ok(());
        }
        let told = self.ask(&request)?;
        let has_receipt = method == "eth_getTransactionReceipt"
            && serde_json::from_slice(&told).is_ok_and(|told: Value| told["result"].is_object());
        if method == "eth_sendRawTransaction" {
            if self.reach(Point::Sent) {
                return Ok(());
            }
            self.count_sent();
        }
        if has_receipt && self.reach(Point::Mined) {
            return Ok(());
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            told.len()
        );
        client.write_all(&[head.as_bytes(), &told].concat())?;
        if has_receipt {
            self.reach(Point::Told);
        }
        Ok(())
    }

    /// The node's own answer.
    fn ask(&self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut node = TcpStream::connect(&self.node)?;
        let head = format!(
            "POST / HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            request.len()
        );
        node.write_all(&[head.as_bytes(), request].concat())?;
        Ok(Message::read(&node)?.body)
    }
}
