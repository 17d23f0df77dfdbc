//! Submits this log's checkpoints to its witnesses.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_core::tlog::{AddCheckpoint, Hash, Note};
use futures_util::future::join_all;
use reqwest::{Client, Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::config::WitnessEndpoint;

/// Time limit for all of them together: a slot is not published later than that because of them.
const WITHIN: Duration = Duration::from_secs(5);

/// Maximum number of answer bytes read: a few lines.
const MAX_ANSWER: usize = 16 << 10;

/// How far a cosignature's time may be ahead of this machine's clock, seconds.
const AHEAD_S: u64 = 300;

/// The results of the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CosignResults {
    /// The signature lines of the witnesses that cosigned, each with its line break.
    pub lines: String,
    /// Number of witnesses that cosigned.
    pub cosigned: u32,
    /// The others, by name, each with the reason.
    pub failed: Vec<(String, String)>,
}

/// The witnesses of this log.
#[derive(Debug)]
pub struct Witnesses {
    client: Client,
    asks: Vec<WitnessEndpoint>,
    /// The size that each witness last cosigned, as far as is known.
    known: Mutex<Vec<u64>>,
}

/// A witness's answer.
enum Said {
    Cosigned(String),
    /// The size that it last cosigned.
    Size(u64),
    Failed(String),
}

/// A witness to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    place: usize,
    /// The size from which the consistency proof starts; 0: no proof.
    pub old: u64,
}

/// A checkpoint to submit.
#[derive(Debug)]
pub struct Shown {
    /// The note as signed by the log.
    pub checkpoint: String,
    /// Its number of slots.
    pub size: u64,
    /// When waiting for answers ends.
    pub deadline: Instant,
}

impl Shown {
    /// This checkpoint, with five seconds for the witnesses.
    pub fn now(checkpoint: String, size: u64) -> Self {
        Self { checkpoint, size, deadline: Instant::now() + WITHIN }
    }
}

impl Witnesses {
    /// These witnesses, with unknown sizes.
    pub fn new(asks: Vec<WitnessEndpoint>) -> Result<Self, reqwest::Error> {
        // An error means that this process has already chosen its cryptography provider.
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

    /// All witnesses, each with the size that it last cosigned, as far as is known.
    pub fn due_witnesses(&self, size: u64) -> Vec<Due> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A witness that cosigned a larger size saw a different history, and its answer will say so.
        let old = known.iter().map(|known| if *known > size { 0 } else { *known });
        old.enumerate().map(|(place, old)| Due { place, old }).collect()
    }

    /// Submits a checkpoint to some witnesses, each with the proof from its last size. Returns those that answered with
    /// another size, which must be asked once more.
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

    /// Marks witnesses as failed that were asked twice and answered with yet another size.
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

/// The part of an answer that is logged: the beginning of its first line.
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

/// The witness's own signature line in its answer.
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
