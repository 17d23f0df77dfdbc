//! A server without the log's key, from which the log is copied: how much of its answers reaches the copier's disk.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use exitgap_client::copy::Copier;
use exitgap_core::tlog::VerifierKey;

use super::forged_heavy::skippable_frame;
use super::forged_tree::Tree;
use super::{Progress, Result, memory_folder};

/// Bytes that a lie sends, if the client reads them all.
const FLOOD_BYTES: usize = 128 << 20;

/// The size of a frame that decompressors skip.
const SKIPPABLE_BYTES: usize = 4 << 20;

/// How long a copy may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What is served in place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// Zeros without an end, and without a declared length.
    Endless,
    /// The true file, then frames that decompressors skip.
    Skippable,
    /// The true file, repeated.
    Repeated,
    /// A small file that unpacks to many zeros.
    Bomb,
}

impl Lie {
    const ALL: [Self; 4] = [Self::Endless, Self::Skippable, Self::Repeated, Self::Bomb];
}

/// The beginnings of the paths that a copier can ask for.
const ASKED: [&str; 12] = [
    "checkpoint",
    "verifier-key",
    "predecessor",
    "superseded-by",
    "default-bases",
    "slots/",
    "parts/",
    "fills/",
    "issued/",
    "tile/entries/",
    "tile/0/",
    "",
];

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// Bytes of the files that the log signs.
    pub signed: u64,
    /// The most bytes that were in a copier's folder at one moment.
    pub written: u64,
    /// When that was.
    pub worst: String,
    /// Copies from a lying server.
    pub cases: u64,
    /// Of these, how many met the lie.
    pub lied: u64,
    /// Bytes that lies sent.
    pub sent: u64,
}

/// The server's files, and its lie.
struct Server {
    tree: Tree,
    lie: Mutex<Option<(&'static str, Lie)>>,
    lied: AtomicU64,
    sent: AtomicU64,
}

/// Copies a log from a server that lies about each kind of file in each way.
pub fn run(tree: &Tree, keys: &[VerifierKey], progress: Progress<'_>) -> Result<Measured> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = Arc::new(Server {
        tree: tree.clone(),
        lie: Mutex::new(None),
        lied: AtomicU64::new(0),
        sent: AtomicU64::new(0),
    });
    let answering = Arc::clone(&server);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = Arc::clone(&answering);
            // A client that hangs up is the expected end of a lie.
            thread::spawn(move || drop(server.answer(client)));
        }
    });
    let mut measured = Measured::default();
    let (honest, copied) = copy(address, keys)?;
    if !copied {
        return Err("an honest server's log was not copied".into());
    }
    measured.signed = honest;
    let of = (ASKED.len() * Lie::ALL.len()) as u64;
    for asked in ASKED {
        for lie in Lie::ALL {
            *server.lie.lock().unwrap_or_else(PoisonError::into_inner) = Some((asked, lie));
            let before = server.lied.load(Ordering::Relaxed);
            let (written, _) = copy(address, keys)?;
            measured.cases += 1;
            measured.lied += u64::from(server.lied.load(Ordering::Relaxed) > before);
            if written > measured.written {
                measured.written = written;
                measured.worst = format!("{lie:?} in place of {asked:?}");
            }
            progress("forged (disk of a copier)", measured.cases, of);
        }
    }
    measured.sent = server.sent.load(Ordering::Relaxed);
    Ok(measured)
}

/// Copies the log; returns the most bytes that its folder had, and whether the copy is whole.
fn copy(address: SocketAddr, keys: &[VerifierKey]) -> Result<(u64, bool)> {
    let folder = memory_folder()?;
    let (most, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let copied = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(bytes_in(folder.path()), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
            }
        });
        let url = format!("http://{address}/log");
        let copier = url.parse().map_err(|_| "not a URL").and_then(|base| {
            Copier::new(base, folder.path(), keys.to_vec()).map_err(|_| "no folder for a copy")
        });
        let copied = copier.map(|mut copier| copier.update(LIMIT, &|_, _| {}).is_ok());
        done.store(true, Ordering::Relaxed);
        copied
    })?;
    most.fetch_max(bytes_in(folder.path()), Ordering::Relaxed);
    Ok((most.load(Ordering::Relaxed), copied))
}

/// The bytes of all files below a folder. Files come and go while they are counted.
fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

impl Server {
    fn answer(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(client.try_clone()?).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let path = first.split(' ').nth(1).unwrap_or_default();
        let file = path.strip_prefix("/log/").unwrap_or(path);
        let lie = *self.lie.lock().unwrap_or_else(PoisonError::into_inner);
        let truth = self.tree.get(file);
        match lie {
            // Where a file is not there, nothing is asked that a lie could answer, but for the last kind of lie.
            Some((asked, lie)) if file.starts_with(asked) => {
                self.lied.fetch_add(1, Ordering::Relaxed);
                self.lie(&mut client, truth.map(Vec::as_slice).unwrap_or_default(), lie)
            }
            _ => match truth {
                Some(truth) => {
                    let length = truth.len();
                    write!(
                        client,
                        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                    )?;
                    client.write_all(truth)
                }
                None => client.write_all(
                    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                ),
            },
        }
    }

    fn lie(&self, client: &mut TcpStream, truth: &[u8], lie: Lie) -> std::io::Result<()> {
        client.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        let piece = match lie {
            Lie::Endless => vec![0; 1 << 20],
            Lie::Skippable => {
                client.write_all(truth)?;
                skippable_frame(SKIPPABLE_BYTES)
            }
            Lie::Repeated => {
                let truth = if truth.is_empty() { b"\n" } else { truth };
                truth.repeat((1 << 20) / truth.len() + 1)
            }
            Lie::Bomb => return client.write_all(&zstd::encode_all(&vec![0; FLOOD_BYTES][..], 3)?),
        };
        let mut left = FLOOD_BYTES;
        while left > 0 {
            client.write_all(&piece)?;
            self.sent.fetch_add(piece.len() as u64, Ordering::Relaxed);
            left = left.saturating_sub(piece.len());
        }
        Ok(())
    }
}
