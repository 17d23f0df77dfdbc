//! Shares work that takes seconds fairly: each client has a limited number of tasks in progress, however many it
//! requests, and waiting clients take turns.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

tokio::task_local! {
    /// The client whose request this task answers.
    static CLIENT: ClientKey;
}

/// The key of a client: an address, or `None` for all clients whose address is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ClientKey(pub Option<IpAddr>);

impl ClientKey {
    /// Runs work for this client. When the work waits for a turn, it waits in this client's queue.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        CLIENT.scope(self, work).await
    }

    /// The client of the current task.
    fn current() -> Self {
        CLIENT.try_with(|client| *client).unwrap_or_default()
    }
}

/// The limits: how many turns at once, and how many per client.
#[derive(Debug)]
pub struct Turns {
    most: usize,
    most_per_client: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of turns in use.
    count: usize,
    by_client: HashMap<ClientKey, usize>,
    /// Waiting clients, the next one first, each with its requests in order.
    waiting: VecDeque<(ClientKey, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A turn, returned when dropped.
#[derive(Debug)]
pub struct Turn {
    turns: Arc<Turns>,
    client: ClientKey,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.count = state.count.saturating_sub(1);
        if let Some(count) = state.by_client.get_mut(&self.client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                state.by_client.remove(&self.client);
            }
        }
        drop(state);
        self.turns.hand_out();
    }
}

impl Turns {
    /// At most `most` turns at once and `most_per_client` per client; at least one of each.
    pub fn new(most: usize, most_per_client: usize) -> Arc<Self> {
        let (most, most_per_client) = (most.max(1), most_per_client.max(1));
        Arc::new(Self { most, most_per_client, state: Mutex::default() })
    }

    /// Waits for the next turn of the current task's client.
    pub async fn take(self: Arc<Self>) -> Option<Turn> {
        let receiver = self.queue(ClientKey::current());
        self.hand_out();
        // A request that is dropped while it waits closes its receiver and is skipped.
        receiver.await.ok()
    }

    fn queue(&self, client: ClientKey) -> oneshot::Receiver<Turn> {
        let (sender, receiver) = oneshot::channel();
        let waiting = &mut self.state().waiting;
        match waiting.iter_mut().find(|(waiting, _)| *waiting == client) {
            Some((_, senders)) => senders.push_back(sender),
            None => waiting.push_back((client, VecDeque::from([sender]))),
        }
        receiver
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives turns to waiting clients while there are any.
    fn hand_out(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            let Some((client, sender)) = state.next(self.most, self.most_per_client) else {
                return;
            };
            state.count += 1;
            *state.by_client.entry(client).or_default() += 1;
            drop(state);
            // If the receiver is already closed, the turn is dropped, which returns it and hands it out again.
            let _ = sender.send(Turn { turns: Arc::clone(self), client });
        }
    }
}

impl State {
    /// The next client: of those below their limit, the one that has waited longest.
    fn next(
        &mut self,
        most: usize,
        most_per_client: usize,
    ) -> Option<(ClientKey, oneshot::Sender<Turn>)> {
        if self.count >= most {
            return None;
        }
        for (_, senders) in &mut self.waiting {
            senders.retain(|sender| !sender.is_closed());
        }
        self.waiting.retain(|(_, senders)| !senders.is_empty());
        let in_hand = |client| self.by_client.get(client).copied().unwrap_or_default();
        let place =
            self.waiting.iter().position(|(client, _)| in_hand(client) < most_per_client)?;
        let (client, mut senders) = self.waiting.remove(place)?;
        let sender = senders.pop_front()?;
        if !senders.is_empty() {
            self.waiting.push_back((client, senders));
        }
        Some((client, sender))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::BlockingPool;
    use super::*;

    const WORK: Duration = Duration::from_millis(100);

    fn client(last: u8) -> ClientKey {
        ClientKey(Some(IpAddr::from([192, 0, 2, last])))
    }

    /// How long a client waits for its own work while another client has queued this many requests.
    async fn wait_beside_flood(lane: &BlockingPool, questions: usize) -> Duration {
        let flood: Vec<_> = (0..questions)
            .map(|_| {
                let lane = lane.clone();
                let work = async move { lane.run(|| std::thread::sleep(WORK)).await };
                tokio::spawn(client(1).scope(work))
            })
            .collect();
        tokio::time::sleep(WORK / 2).await;
        let asked = Instant::now();
        client(2).scope(lane.run(|| std::thread::sleep(WORK))).await.unwrap();
        let waited = asked.elapsed();
        flood.iter().for_each(tokio::task::JoinHandle::abort);
        waited
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_second_client_does_not_wait_for_all_that_the_first_asked_for() {
        let waited = wait_beside_flood(&BlockingPool::fair(2), 30).await;
        assert!(waited < WORK * 8, "{waited:?}");
        // As a control: a single queue for all clients.
        let waited = wait_beside_flood(&BlockingPool::new(1), 30).await;
        assert!(waited > WORK * 20, "{waited:?}");
    }

    #[tokio::test]
    async fn clients_that_wait_are_served_in_turn_whatever_each_has_asked_for() {
        let turns = Turns::new(1, 1);
        let first = client(1).scope(turns.clone().take()).await.unwrap();
        let (told, mut order) = tokio::sync::mpsc::unbounded_channel();
        for asking in [1, 1, 1, 2, 3, 2] {
            let (turns, told) = (turns.clone(), told.clone());
            tokio::spawn(client(asking).scope(async move {
                let turn = turns.take().await.unwrap();
                told.send(asking).unwrap();
                drop(turn);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        let mut served = Vec::new();
        for _ in 0..6 {
            served.push(order.recv().await.unwrap());
        }
        assert_eq!(served, [1, 2, 3, 1, 2, 1]);
    }

    #[tokio::test]
    async fn a_client_has_its_share_of_the_turns_and_what_is_no_longer_waited_for_takes_none() {
        let turns = Turns::new(2, 1);
        let held = client(1).scope(turns.clone().take()).await.unwrap();
        // The client's second request waits although a turn is free, and then disconnects.
        let waiting = client(1).scope(turns.clone().take());
        assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
        let other = client(2).scope(turns.clone().take()).await.unwrap();
        drop((held, other));
        let counts = {
            let state = turns.state();
            (state.count, state.by_client.len())
        };
        assert_eq!(counts, (0, 0));
        client(1).scope(turns.clone().take()).await.unwrap();
        assert!(turns.state().waiting.is_empty());
    }

    #[tokio::test]
    async fn work_of_no_known_client_is_done_too() {
        assert_eq!(BlockingPool::fair(1).run(|| 7).await.unwrap(), 7);
    }
}
