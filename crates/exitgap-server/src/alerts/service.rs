//! Owners' requests about their stored rules.

use std::net::IpAddr;
use std::sync::Arc;

use exitgap_api::operations::{EventsAsked, KeepAsked, NamedAlert, SendAgainAsked};
use exitgap_api::{
    AlertEventKept, AlertEventTold, AlertEventsKept, AlertKept, AlertMade, AlertStanding,
    AlertsKept, AlertsResent, AlertsTold, Problem, ProblemCode, WebhookKeys, WebhookTold,
};
use exitgap_core::alerts::{AlertRule, AlertRun};
use exitgap_core::series::{Slot, rfc3339};
use exitgap_store::alerts::{
    Alerts, AlertsError, Endpoint, Full, Kept, KeptAlert, KeptEvent, NewAlert, NewEndpoint,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::guard::Networks;
use super::keys::{OwnerToken, PREVIOUS_MS, previous};
use super::{AlertsRoom, base32};
use crate::ops::Service;

/// How long a rule is kept after its owner's last request, seconds: 30 days.
const KEPT_S: u64 = 30 * 86_400;

/// How often a rule's first slot is moved forward if slots are evaluated meanwhile.
const TRIES: u32 = 5;

/// The caller of a request.
#[derive(Clone)]
pub struct Caller {
    /// The client's address.
    pub client: Option<IpAddr>,
    /// The token that it sent.
    pub token: Option<OwnerToken>,
    /// The request's idempotency key.
    pub idempotency: Option<String>,
}

/// Stores rules, and answers requests about them.
#[derive(Clone)]
pub struct AlertService {
    pub(super) room: Arc<AlertsRoom>,
    service: Arc<Service>,
}

pub(super) type Answer<T> = Result<T, Problem>;

fn unavailable(error: &AlertsError) -> Problem {
    tracing::error!(%error, "alerts");
    Problem::new(ProblemCode::InternalError, "stored alerts cannot be read or written now")
}

fn not_kept() -> Problem {
    Problem::new(ProblemCode::InternalError, "the alert could not be stored")
}

fn random<const N: usize>() -> Answer<[u8; N]> {
    let mut bytes = [0; N];
    let none =
        |_| Problem::new(ProblemCode::InternalError, "the system returned no random numbers");
    getrandom::fill(&mut bytes).map_err(none)?;
    Ok(bytes)
}

impl AlertService {
    /// Creates the service from the alerts database and the series that rules are evaluated with.
    pub fn new(room: Arc<AlertsRoom>, service: Arc<Service>) -> Self {
        Self { room, service }
    }

    pub(super) fn now_ms(&self) -> u64 {
        (self.room.now_ms)()
    }

    fn until_s(&self) -> u64 {
        self.now_ms() / 1_000 + KEPT_S
    }

    /// Runs blocking disk access on a blocking thread.
    pub(super) async fn alerts<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Alerts) -> Result<T, AlertsError> + Send + 'static,
    ) -> Answer<T> {
        let alerts = self.room.alerts.clone();
        // Requests wait here for the database, so that they do not occupy blocking threads that others need.
        let turn = self.room.turn.clone().lock_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _until_done = turn;
            work(&alerts)
        });
        let done = done.await;
        let gone = |_| Problem::new(ProblemCode::InternalError, "the service failed");
        done.map_err(gone)?.map_err(|error| unavailable(&error))
    }

    /// Stores a rule.
    pub async fn keep(&self, caller: Caller, asked: KeepAsked) -> Answer<AlertMade> {
        let endpoint = self.endpoint(asked.webhook_url.as_deref())?;
        let shown = self.known(&caller).await?;
        if caller.idempotency.is_some() && shown.is_none() {
            let detail =
                "Idempotency-Key: this header needs the owner's token, and the request has none";
            return Err(Problem::new(ProblemCode::InvalidParameter, detail)
                .field("Idempotency-Key")
                .hint(
                    "omit the header for the first alert, and send the token with later requests",
                ));
        }
        let backtest = self.service.alerts(asked.rule).await?;
        let mut request = backtest.rule.clone();
        // The first slot depends on when the request is made.
        request["first_slot"] = json!(asked.webhook_url);
        let request = Sha256::digest(request.to_string().as_bytes());
        let token = match &shown {
            Some(token) => token.clone(),
            None => OwnerToken::new().map_err(|_| {
                Problem::new(ProblemCode::InternalError, "the system returned no random numbers")
            })?,
        };
        let salt = endpoint.as_ref().map(|endpoint| endpoint.salt);
        let new = NewAlert {
            id: String::new(),
            owner: token.owner(),
            client: self.room.key.client(caller.client),
            idempotency: caller.idempotency,
            request: request.into(),
            rule: Vec::new(),
            first_slot: Slot::FIRST,
            endpoint,
            expires_s: self.until_s(),
            run: Vec::new(),
            state: String::new(),
        };
        let kept = self.keep_from_now(new, &backtest).await?;
        let alert = match kept {
            Kept::New(alert) | Kept::Again(alert) => *alert,
            Kept::OtherRequest => {
                let detail = "Idempotency-Key: this key was already used for a different request";
                return Err(Problem::new(ProblemCode::RequestDiffers, detail)
                    .field("Idempotency-Key")
                    .hint("use a new key for each request"));
            }
            Kept::Full(full) => return Err(self.full(full)),
            Kept::Passed => return Err(not_kept()),
        };
        self.room.bell.notify_one();
        // The keys of an endpoint that the owner already has were returned with its first rule.
        let fresh = |endpoint: &&Endpoint| salt == Some(endpoint.keys.salt);
        let secret = alert.endpoint.as_ref().filter(fresh).map(|endpoint| {
            self.room.key.webhook(&endpoint.keys.salt, endpoint.keys.generation).secret_text()
        });
        Ok(AlertMade {
            alert: self.describe_alert(alert).await?,
            token: shown.is_none().then(|| token.text()),
            webhook_secret: secret,
            backtest,
        })
    }

    /// Stores a rule that begins with the next slot that no evaluator has evaluated yet.
    async fn keep_from_now(&self, mut new: NewAlert, backtest: &AlertsTold) -> Answer<Kept> {
        for _ in 0..TRIES {
            let rule = self.rule_of(backtest).await?;
            let run = AlertRun::new(rule.clone());
            let state = AlertStanding::from(run.state());
            rule.alert.as_str().clone_into(&mut new.id);
            (new.rule, new.first_slot, new.run) =
                (rule.to_canonical(), rule.first_slot, run.keep());
            new.state = serde_json::to_string(&state).unwrap_or_default();
            let (asked, bounds, now_ms) = (new.clone(), self.room.plan.bounds, self.now_ms());
            match self.alerts(move |alerts| alerts.keep(&asked, &bounds, now_ms)).await? {
                Kept::Passed => {}
                kept => return Ok(kept),
            }
        }
        Ok(Kept::Passed)
    }

    /// The rule to store, made from the backtested one: with a name and a first slot of its own.
    async fn rule_of(&self, backtest: &AlertsTold) -> Answer<AlertRule> {
        // An evaluator may know a newer slot than this service does.
        let evaluated = self.alerts(Alerts::evaluated_slot).await?;
        let newest = self.service.current().last_slot.max(evaluated).and_then(Slot::next);
        let none = || Problem::new(ProblemCode::NoSnapshotYet, "no slot is sealed yet");
        let first = newest.ok_or_else(none)?;
        let mut rule = backtest.rule.clone();
        rule["alert"] = json!(format!("al_{}", base32(&random::<16>()?)));
        rule["first_slot"] = json!(first.number());
        AlertRule::from_json(rule.to_string().as_bytes()).map_err(|error| {
            tracing::error!(%error, "a stored rule cannot be read again");
            not_kept()
        })
    }

    fn endpoint(&self, url: Option<&str>) -> Answer<Option<NewEndpoint>> {
        let Some(url) = url else { return Ok(None) };
        let networks = Networks::new(self.room.plan.allowed.clone());
        let permitted = networks.permit(url).map_err(|error| {
            Problem::new(ProblemCode::InvalidParameter, format!("webhook_url: {error}"))
                .field("webhook_url")
                .hint("use a URL such as https://hooks.example/exits at a public host")
        })?;
        let (url, host) = (permitted.url.to_string(), permitted.host);
        Ok(Some(NewEndpoint { url, host, salt: random()? }))
    }

    fn full(&self, full: Full) -> Problem {
        let bounds = self.room.plan.bounds;
        let (code, detail) = match full {
            Full::Client => {
                let detail =
                    format!("more than the limit of {} alerts per client", bounds.per_client);
                (ProblemCode::TooManyAlerts, detail)
            }
            Full::Host => {
                let detail =
                    format!("more than the limit of {} alerts per webhook host", bounds.per_host);
                (ProblemCode::TooManyAlerts, detail)
            }
            Full::All => {
                let detail =
                    format!("the limit of {} alerts on this service is reached", bounds.most);
                (ProblemCode::AlertsFull, detail)
            }
        };
        Problem::new(code, detail)
            .hint("delete one with DELETE /v1/alerts/{alert}, or evaluate the rule yourself with `exitgap alert replay`")
    }

    /// The caller's token, if it sent a valid one.
    async fn known(&self, caller: &Caller) -> Answer<Option<OwnerToken>> {
        let Some(token) = caller.token.clone() else { return Ok(None) };
        let owner = token.owner();
        if self.alerts(move |alerts| alerts.is_owner(&owner)).await? {
            return Ok(Some(token));
        }
        Err(Problem::new(ProblemCode::TokenRequired, "this token is unknown or no longer valid")
            .hint(
                "a token is shown once, with the first alert; POST /v1/alerts without a token creates one",
            ))
    }

    pub(super) async fn owner(&self, caller: &Caller) -> Answer<OwnerToken> {
        let none = || {
            Problem::new(ProblemCode::TokenRequired, "the request has no token")
                .hint("send Authorization: Bearer exa_…, with the token shown when the first alert was created")
        };
        self.known(caller).await?.ok_or_else(none)
    }

    /// An owner's rules.
    pub async fn list(&self, caller: Caller) -> Answer<AlertsKept> {
        let (owner, until_s) = (self.owner(&caller).await?.owner(), self.until_s());
        let mut alerts = Vec::new();
        for alert in self.alerts(move |alerts| alerts.of_owner(&owner, until_s)).await? {
            alerts.push(self.describe_alert(alert).await?);
        }
        Ok(AlertsKept { alerts })
    }

    async fn find(&self, caller: &Caller, NamedAlert(id): NamedAlert) -> Answer<KeptAlert> {
        let (owner, until_s) = (self.owner(caller).await?.owner(), self.until_s());
        let found =
            self.alerts(move |alerts| alerts.find_alert(&owner, id.as_str(), until_s)).await?;
        found.ok_or_else(|| {
            Problem::new(ProblemCode::UnknownAlert, "the token's owner has no such alert")
                .field("alert")
                .hint("GET /v1/alerts lists your alerts")
        })
    }

    /// Returns one of the owner's rules.
    pub async fn get_alert(&self, caller: Caller, named: NamedAlert) -> Answer<AlertKept> {
        let found = self.find(&caller, named).await?;
        self.describe_alert(found).await
    }

    /// Ends one of the owner's rules.
    pub async fn end(&self, caller: Caller, named: NamedAlert) -> Answer<AlertKept> {
        let (found, now_s) = (self.find(&caller, named).await?, self.now_ms() / 1_000);
        self.alerts(move |alerts| alerts.end(found.no, now_s)).await?;
        self.get_alert(caller, named).await
    }

    /// The events of one of the owner's rules.
    pub async fn events(&self, caller: Caller, asked: EventsAsked) -> Answer<AlertEventsKept> {
        let EventsAsked { alert, after_seq, limit } = asked;
        let found = self.find(&caller, alert).await?;
        let no = found.no;
        let events = self.alerts(move |alerts| alerts.events(no, after_seq, limit)).await?;
        Ok(AlertEventsKept {
            alert: found.id,
            next_after_seq: events.last().map_or(after_seq, |event| event.seq),
            events: events.into_iter().map(event_kept).collect(),
        })
    }

    /// The webhook of one of the owner's rules; an error if the rule has none.
    async fn webhook(&self, caller: &Caller, named: NamedAlert) -> Answer<(KeptAlert, Endpoint)> {
        let found = self.find(caller, named).await?;
        let none = || {
            Problem::new(ProblemCode::InvalidParameter, "alert: this alert has no webhook")
                .field("alert")
                .hint("create an alert with webhook_url, or read /v1/alerts/{alert}/events")
        };
        let endpoint = found.endpoint.clone().ok_or_else(none)?;
        Ok((found, endpoint))
    }

    /// Challenges the webhook of a rule again.
    pub async fn ask(&self, caller: Caller, named: NamedAlert) -> Answer<AlertKept> {
        let ((_, endpoint), now_ms) = (self.webhook(&caller, named).await?, self.now_ms());
        self.alerts(move |alerts| alerts.ask_again(endpoint.id, now_ms)).await?;
        self.room.bell.notify_one();
        self.get_alert(caller, named).await
    }

    /// Changes the webhook keys of a rule.
    pub async fn rotate(&self, caller: Caller, named: NamedAlert) -> Answer<WebhookKeys> {
        let ((_, endpoint), now_ms) = (self.webhook(&caller, named).await?, self.now_ms());
        self.alerts(move |alerts| alerts.rotate(endpoint.id, now_ms)).await?;
        let (_, endpoint) = self.webhook(&caller, named).await?;
        let keys = self.room.key.webhook(&endpoint.keys.salt, endpoint.keys.generation);
        Ok(WebhookKeys {
            webhook_secret: keys.secret_text(),
            public_key: keys.public_text(),
            previous_until: rfc3339((now_ms + PREVIOUS_MS) / 1_000),
        })
    }

    /// Sends events of a rule again.
    pub async fn send_again(&self, caller: Caller, asked: SendAgainAsked) -> Answer<AlertsResent> {
        let SendAgainAsked { alert, from_seq } = asked;
        let ((found, _), now_ms) = (self.webhook(&caller, alert).await?, self.now_ms());
        let send = move |alerts: &Alerts| alerts.send_again(found.no, from_seq, now_ms);
        let events = self.alerts(send).await?;
        self.room.bell.notify_one();
        Ok(AlertsResent { events: u32::try_from(events).unwrap_or(u32::MAX) })
    }

    async fn describe_alert(&self, alert: KeptAlert) -> Answer<AlertKept> {
        let evaluated = self.alerts(Alerts::evaluated_slot).await?;
        let damaged = |_| Problem::new(ProblemCode::InternalError, "a stored rule cannot be read");
        let rule = AlertRule::from_json(&alert.rule).map_err(damaged)?;
        let standing = serde_json::from_str(&alert.state);
        Ok(AlertKept {
            alert: alert.id,
            pool: rule.pool.to_string(),
            rule: serde_json::from_slice(&alert.rule).unwrap_or(Value::Null),
            rule_hash: rule.hash().to_string(),
            created: rfc3339(alert.created_s),
            expires: rfc3339(alert.expires_s),
            ended: alert.ended,
            state: standing.unwrap_or_else(|_| AlertRun::new(rule).state().into()),
            evaluated_slot: evaluated.map(Slot::number),
            last_seq: alert.last_seq,
            webhook: alert.endpoint.map(|endpoint| self.webhook_told(endpoint, alert.pending)),
        })
    }

    fn webhook_told(&self, endpoint: Endpoint, pending: u32) -> WebhookTold {
        let of = |generation| self.room.key.webhook(&endpoint.keys.salt, generation).public_text();
        WebhookTold {
            public_key: of(endpoint.keys.generation),
            previous_public_key: previous(&endpoint.keys, self.now_ms()).map(of),
            state: endpoint.state.code().to_owned(),
            failing_since: endpoint.failing_ms.map(|ms| rfc3339(ms / 1_000)),
            last_failure: endpoint.said,
            url: endpoint.url,
            pending,
        }
    }
}

fn event_kept(event: KeptEvent) -> AlertEventKept {
    let (delivery, attempts, last_failure) = match event.delivery.clone() {
        Some((state, attempts, said)) => (Some(state), attempts, said),
        None => (None, 0, None),
    };
    AlertEventKept { event: event_told(event), delivery, attempts, last_failure }
}

/// An event as returned by the API.
pub(super) fn event_told(event: KeptEvent) -> AlertEventTold {
    AlertEventTold {
        id: event.id,
        seq: event.seq,
        r#type: event.r#type,
        slot: event.slot,
        document: serde_json::from_slice(&event.document).unwrap_or(Value::Null),
    }
}
