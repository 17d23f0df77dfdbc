//! This log's checkpoints, shown to its witnesses.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_core::tlog::{AddCheckpoint, Hash, Note};
use futures_util::future::join_all;
use reqwest::{Client, Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::config::WitnessEndpoint;

/// How long all of them together may take: a slot is published no later for theirs.
const WITHIN: Duration = Duration::from_secs(5);

/// The most of an answer that is read, bytes: a few lines.
const MAX_ANSWER: usize = 16 << 10;

/// How far ahead of this machine's clock a cosignature may be.
const AHEAD_S: u64 = 300;

/// What became of asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CosignResults {
    /// The lines of those that cosigned, each with its line break.
    pub lines: String,
    /// How many did.
    pub cosigned: u32,
    /// The others, by name, each with why it did not.
    pub failed: Vec<(String, String)>,
}

/// The witnesses of this log.
#[derive(Debug)]
pub struct Witnesses {
    client: Client,
    asks: Vec<WitnessEndpoint>,
    /// The size that each cosigned last, as far as is known.
    known: Mutex<Vec<u64>>,
}

/// What one of them said.
enum Said {
    Cosigned(String),
    /// That it last cosigned this size.
    Size(u64),
    Failed(String),
}

/// A witness that is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    place: usize,
    /// The size that the checkpoint is to be proven to go on from; 0: none.
    pub old: u64,
}

/// A checkpoint that is shown.
#[derive(Debug)]
pub struct Shown {
    /// As the log signed it.
    pub checkpoint: String,
    /// Its slots.
    pub size: u64,
    /// When those that have not answered are waited for no longer.
    pub deadline: Instant,
}

impl Shown {
    /// This checkpoint, which the witnesses have five seconds for.
    pub fn now(checkpoint: String, size: u64) -> Self {
        Self { checkpoint, size, deadline: Instant::now() + WITHIN }
    }
}

impl Witnesses {
    /// These witnesses, of which nothing is known.
    pub fn new(asks: Vec<WitnessEndpoint>) -> Result<Self, reqwest::Error> {
        // An error says that this process chose its cryptography before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .timeout(WITHIN)
            .user_agent(concat!("exitgap/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let known = Mutex::new(vec![0; asks.len()]);
        Ok(Self { client, asks, known })
    }

    /// All of them, each with the size that it cosigned last, as far as is known.
    pub fn due_witnesses(&self, size: u64) -> Vec<Due> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Who cosigned more than there is has another log's past, and says so.
        let old = known.iter().map(|known| if *known > size { 0 } else { *known });
        old.enumerate().map(|(place, old)| Due { place, old }).collect()
    }

    /// Shows some of them a checkpoint, each with the proof from the size it is to go on from. Gives those that named
    /// another size, with that: they are to be asked once more.
    pub async fn ask(
        &self,
        shown: &Shown,
        asks: Vec<(Due, Vec<Hash>)>,
        answered: &mut CosignResults,
    ) -> Vec<Due> {
        let asking = asks.into_iter().map(|(due, proof)| async move {
            let checkpoint = shown.checkpoint.clone();
            let request = AddCheckpoint { old: due.old, proof, checkpoint };
            let asked = &self.asks[due.place];
            let posted = timeout_at(shown.deadline, self.post(asked, &request)).await;
            (due, posted.unwrap_or_else(|_| Said::Failed(late())))
        });
        let mut again = Vec::new();
        for (due, said) in join_all(asking).await {
            let name = || self.asks[due.place].key.name().to_owned();
            match said {
                Said::Cosigned(line) => {
                    answered.lines.push_str(&line);
                    answered.cosigned += 1;
                    self.knows(due.place, shown.size);
                }
                Said::Size(old) if old <= shown.size && old != due.old => {
                    self.knows(due.place, old);
                    again.push(Due { old, ..due });
                }
                Said::Size(old) => {
                    let why = format!(
                        "it reports that it cosigned {old} slots of this log, which has {}, with a different history",
                        shown.size
                    );
                    answered.failed.push((name(), why));
                }
                Said::Failed(why) => answered.failed.push((name(), why)),
            }
        }
        again
    }

    /// Those that were asked twice and named a third size.
    pub fn give_up(&self, due: &[Due], answered: &mut CosignResults) {
        for Due { place, old } in due {
            let why = format!("it returned two different last cosigned sizes, most recently {old}");
            answered.failed.push((self.asks[*place].key.name().to_owned(), why));
        }
    }

    fn knows(&self, place: usize, size: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known[place] = size;
    }

    async fn post(&self, asked: &WitnessEndpoint, request: &AddCheckpoint) -> Said {
        let address = format!("{}/add-checkpoint", asked.url.as_str().trim_end_matches('/'));
        let sent = self.client.post(address).body(request.to_text()).send().await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_timeout() => return Said::Failed(late()),
            Err(error) if error.is_connect() => {
                return Said::Failed("no connection could be made".to_owned());
            }
            Err(_) => return Said::Failed("the connection ended before it answered".to_owned()),
        };
        let status = answer.status();
        let Some(text) = read_body(answer).await else {
            return Said::Failed(format!(
                "its answer ended early, or is longer than {MAX_ANSWER} bytes"
            ));
        };
        match status {
            StatusCode::OK => cosignature(asked, &request.checkpoint, &text),
            StatusCode::CONFLICT => match text.trim_end().parse() {
                Ok(size) => Said::Size(size),
                Err(_) => Said::Failed("it answered 409 without a size".to_owned()),
            },
            status => {
                Said::Failed(format!("it answered {}: {}", status.as_u16(), first_line(&text)))
            }
        }
    }
}

fn late() -> String {
    format!("it did not answer within {} s", WITHIN.as_secs())
}

/// What is printed of an answer: the beginning of its first line.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}

async fn read_body(mut answer: Response) -> Option<String> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).ok()
}

/// The witness's line among those it answered.
fn cosignature(asked: &WitnessEndpoint, checkpoint: &str, answer: &str) -> Said {
    let Ok(note) = Note::parse(checkpoint) else {
        return Said::Failed("the checkpoint is not a signed note".to_owned());
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match asked.key.find(answer, note.text) {
        Some((_, time_s)) if time_s > now_s.saturating_add(AHEAD_S) => {
            Said::Failed(format!("its clock is {} s ahead", time_s - now_s))
        }
        Some((line, _)) => Said::Cosigned(line),
        None => Said::Failed("its answer is not a cosignature by its key".to_owned()),
    }
}
