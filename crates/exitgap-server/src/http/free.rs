//! Counts the free estimates per client and day, if others must be paid for.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::rate::subscriber;

/// Maximum number of clients counted per day. Further clients are not counted, so that no one is rejected because of
/// others' requests.
const MAX_CLIENTS: usize = 200_000;

const DAY_S: u64 = 86_400;

/// The counts of a day.
pub struct Free {
    per_day: u32,
    today: Mutex<Today>,
}

#[derive(Default)]
struct Today {
    day: u64,
    used: HashMap<IpAddr, u32>,
}

/// The client has used up its free estimates of today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedUp {
    /// Free estimates per day.
    pub per_day: u32,
    /// Seconds until the next UTC day.
    pub next_in_s: u64,
}

impl Free {
    /// Creates a counter with this many estimates per day.
    pub fn new(per_day: u32) -> Self {
        Self { per_day, today: Mutex::default() }
    }

    /// Takes `estimates` from the client's quota, all or none.
    pub fn take_estimates(&self, client: IpAddr, estimates: u32, now_s: u64) -> Result<(), UsedUp> {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        if today.day != now_s / DAY_S {
            *today = Today { day: now_s / DAY_S, used: HashMap::new() };
        }
        let client = subscriber(client);
        let used = today.used.get(&client).copied();
        if used.is_none() && today.used.len() >= MAX_CLIENTS {
            return Ok(());
        }
        let all = used.unwrap_or(0).saturating_add(estimates);
        if all > self.per_day {
            return Err(UsedUp { per_day: self.per_day, next_in_s: DAY_S - now_s % DAY_S });
        }
        today.used.insert(client, all);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_so_many_for_each_client_and_the_next_day_as_many() {
        let free = Free::new(5);
        let [one, other]: [IpAddr; 2] = ["192.0.2.1", "192.0.2.2"].map(|ip| ip.parse().unwrap());
        let now = 10 * DAY_S + 80_000;
        assert_eq!(free.take_estimates(one, 3, now), Ok(()));
        let used_up = Err(UsedUp { per_day: 5, next_in_s: 6_400 });
        assert_eq!(free.take_estimates(one, 3, now), used_up);
        assert_eq!(free.take_estimates(one, 2, now), Ok(()), "what was refused was not taken");
        assert_eq!(free.take_estimates(one, 1, now), used_up);
        assert_eq!(free.take_estimates(other, 5, now), Ok(()));
        assert_eq!(free.take_estimates(one, 5, now + 6_400), Ok(()));
        // Two addresses of one subscriber.
        let [a, b]: [IpAddr; 2] = ["2001:db8::1", "2001:db8::2"].map(|ip| ip.parse().unwrap());
        assert_eq!(free.take_estimates(a, 5, now), Ok(()));
        assert_eq!(free.take_estimates(b, 1, now), used_up);
        assert_eq!(Free::new(0).take_estimates(one, 1, now).unwrap_err().per_day, 0);
    }

    #[test]
    fn too_many_clients_to_count_are_not_counted() {
        let free = Free::new(1);
        for number in 0..u32::try_from(MAX_CLIENTS).unwrap() {
            assert_eq!(free.take_estimates(IpAddr::from(number.to_be_bytes()), 1, 1), Ok(()));
        }
        let more = IpAddr::from([255, 255, 255, 1]);
        assert_eq!(
            [free.take_estimates(more, 1, 1), free.take_estimates(more, 1, 1)],
            [Ok(()), Ok(())]
        );
        assert!(free.take_estimates(IpAddr::from([0, 0, 0, 1]), 1, 1).is_err());
    }
}
