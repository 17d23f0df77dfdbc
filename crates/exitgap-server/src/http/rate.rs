//! Rate limits per client.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::header::{HeaderName, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Idle clients are forgotten after this many requests.
const FORGET_EVERY: u32 = 10_000;

type Limiter =
    RateLimiter<IpAddr, DashMapStateStore<IpAddr>, DefaultClock, StateInformationMiddleware>;

/// A limit in requests per minute and client.
pub struct Rate {
    per_minute: NonZeroU32,
    limiter: Limiter,
    clock: DefaultClock,
    asked: AtomicU32,
}

/// The result of counting one request.
pub struct Verdict {
    per_minute: u32,
    remaining: u32,
    /// If rejected, the seconds until a retry.
    pub retry_after_s: Option<u64>,
}

impl Rate {
    /// A limit of this many per minute; `None` for 0.
    pub fn new(per_minute: u32) -> Option<Self> {
        let per_minute = NonZeroU32::new(per_minute)?;
        let limiter = RateLimiter::dashmap(Quota::per_minute(per_minute))
            .with_middleware::<StateInformationMiddleware>();
        Some(Self { per_minute, limiter, clock: DefaultClock::default(), asked: AtomicU32::new(0) })
    }

    /// Counts a request of the client that costs as much as `cost` requests. A cost above the client's whole quota
    /// takes the whole quota.
    pub fn ask(&self, client: IpAddr, cost: NonZeroU32) -> Verdict {
        if self.asked.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.limiter.retain_recent();
        }
        let per_minute = self.per_minute.get();
        let cost = cost.min(self.per_minute);
        match self.limiter.check_key_n(&subscriber(client), cost) {
            Ok(Ok(state)) => {
                let remaining = state.remaining_burst_capacity();
                Verdict { per_minute, remaining, retry_after_s: None }
            }
            // The limiter rejects a cost above a client's whole quota. It was capped above, so this cannot happen; if
            // it did, the quota is full again after a minute.
            Err(_) => Verdict { per_minute, remaining: 0, retry_after_s: Some(60) },
            Ok(Err(refused)) => {
                let wait = refused.wait_time_from(self.clock.now());
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Verdict { per_minute, remaining: 0, retry_after_s: Some(seconds.max(1)) }
            }
        }
    }
}

impl Verdict {
    /// Writes the client's remaining quota to the headers.
    pub fn write_headers(&self, headers: &mut HeaderMap) {
        let Self { per_minute, remaining, retry_after_s } = self;
        let mut insert = |name, text: String| {
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(name, value);
            }
        };
        insert(POLICY, format!("\"client\";q={per_minute};w=60"));
        let reset = retry_after_s.unwrap_or(60);
        insert(LIMIT, format!("\"client\";r={remaining};t={reset}"));
        if let Some(seconds) = retry_after_s {
            insert(RETRY_AFTER, seconds.to_string());
        }
    }
}

/// An IPv6 subscriber usually has a whole /64, so its addresses are counted as one.
pub fn subscriber(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: NonZeroU32 = NonZeroU32::MIN;

    #[test]
    fn what_costs_more_takes_more_of_the_share() {
        let rate = Rate::new(10).unwrap();
        let client: IpAddr = "192.0.2.1".parse().unwrap();
        let ask = |cost| rate.ask(client, NonZeroU32::new(cost).unwrap());
        assert_eq!(ask(7).remaining, 3);
        assert!(ask(4).retry_after_s.is_some());
        assert_eq!(ask(3).remaining, 0);
        // A cost above the whole quota takes the whole quota and is then admitted; otherwise such a request could never
        // succeed.
        let other: IpAddr = "192.0.2.2".parse().unwrap();
        let all = rate.ask(other, NonZeroU32::new(1_000).unwrap());
        assert_eq!((all.remaining, all.retry_after_s), (0, None));
    }

    #[test]
    fn a_client_is_refused_after_its_share_and_others_are_not() {
        let rate = Rate::new(3).unwrap();
        let client: IpAddr = "192.0.2.1".parse().unwrap();
        for remaining in [2, 1, 0] {
            let verdict = rate.ask(client, ONE);
            assert_eq!((verdict.remaining, verdict.retry_after_s), (remaining, None));
        }
        let refused = rate.ask(client, ONE);
        assert!((1..=20).contains(&refused.retry_after_s.unwrap()));
        let mut headers = HeaderMap::new();
        refused.write_headers(&mut headers);
        assert_eq!(headers[&POLICY], "\"client\";q=3;w=60");
        assert!(headers.contains_key(RETRY_AFTER));
        assert!(rate.ask("192.0.2.2".parse().unwrap(), ONE).retry_after_s.is_none());
        assert!(Rate::new(0).is_none());
    }

    #[test]
    fn addresses_of_one_subscriber_count_together() {
        let rate = Rate::new(1).unwrap();
        assert!(rate.ask("2001:db8::1".parse().unwrap(), ONE).retry_after_s.is_none());
        assert!(rate.ask("2001:db8::2".parse().unwrap(), ONE).retry_after_s.is_some());
        assert!(rate.ask("2001:db8:0:1::1".parse().unwrap(), ONE).retry_after_s.is_none());
        assert!(rate.ask("192.0.2.9".parse().unwrap(), ONE).retry_after_s.is_none());
        assert!(rate.ask("::ffff:192.0.2.9".parse().unwrap(), ONE).retry_after_s.is_some());
    }
}
