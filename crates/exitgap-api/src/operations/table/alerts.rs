//! The rows of streams of slots and of rules that watch pools.

use super::super::parameters::{
    AFTER_SEQ, ALERT_IN_PATH, ALERT_KIND, ALERT_NAME, ALERT_PCT, ALERT_POOL, ALERT_REASON,
    ALERT_SIZE, ALERT_USD, AT_PCT, BASE, CLEAR_FOR_SLOTS, CLEAR_PCT, CLEAR_USD, FOR_SLOTS,
    FROM_SEQ, LAST_EVENT_ID, LIMIT, MAX_AGE, MIN_DAYS, NO_DATA_SLOTS, ON_MISSING, PERIOD_FROM,
    POOL, REFIRE_SLOTS, REMIND_SLOTS, REQUIRE, TICKET, TO, WATCHED, WEBHOOK_URL,
};
use super::super::{Answer, Calls, Group, Keep, Method, Operation, Row};
use super::{OF_MANY_SNAPSHOTS, own, row};

pub(super) const ROWS: [Row; 10] = [
    Row {
        group: Group::Series,
        title: "Sealed slots, live",
        about: "Server-sent events: `slot` for each sealed slot, then `pool` for each requested pool that has a head in it. Their data are the documents `StreamedSlot` and `StreamedPool`. An id is `<slot>.<place>`, determined by the log and the requested pools. With `ticket`, the events of the owner's rules follow the pools as events `alert` (`AlertEventTold`), and a slot is sent once all rules were evaluated with it. A client that reconnects with `Last-Event-ID` continues after that event, up to seven days back. Further back, an event `reset` names the newest slot, and the stream continues from the present. The first event has an id and no data. A comment is sent every 15 seconds. At most 6 streams per client.",
        parameters: &[&WATCHED, &TICKET, &LAST_EVENT_ID],
        answer: Answer::Bytes("text/event-stream"),
        refusals: &[400, 401, 404, 429],
        keep: None,
        ..row(Operation::Stream, "streamSlots", "/v1/stream")
    },
    Row {
        group: Group::Alerts,
        title: "Backtest of an alert rule",
        about: "The state of your own rule after a period, and every event on the way. The rule fires after `for_slots` consecutive breaches, is resolved after `clear_for_slots` clear slots, and does not fire again for `refire_slots`. The rule is not stored. The same `from` and `alert` always return the same events, and later ones, byte for byte as `exitgap alert replay` computes them from the published log. At most 31 days. Default: 30 days.",
        parameters: &[
            &POOL,
            &ALERT_KIND,
            &BASE,
            &ALERT_SIZE,
            &ALERT_PCT,
            &CLEAR_PCT,
            &ALERT_USD,
            &CLEAR_USD,
            &AT_PCT,
            &ALERT_REASON,
            &FOR_SLOTS,
            &CLEAR_FOR_SLOTS,
            &NO_DATA_SLOTS,
            &REFIRE_SLOTS,
            &REMIND_SLOTS,
            &ON_MISSING,
            &ALERT_NAME,
            &PERIOD_FROM,
            &TO,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("AlertsTold"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "alerts", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::AlertsOf, "evaluateAlert", "/v1/alerts/backtest/{pool}")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "Create an alert rule",
        about: "The rule is evaluated with every slot that is sealed from now on. Its events are the same, byte for byte, as those of `/v1/alerts/backtest/{pool}` and `exitgap alert replay`. If the request has no token, the answer has a new one, shown only once. With `webhook_url` the events are sent there, signed according to Standard Webhooks, after the URL has echoed a challenge. The key to check the signatures is shown only once. With a token, `Idempotency-Key` ensures that a repeated request creates one rule only. The number of rules per client and per host is limited.",
        parameters: &[
            &ALERT_POOL,
            &ALERT_KIND,
            &BASE,
            &ALERT_SIZE,
            &ALERT_PCT,
            &CLEAR_PCT,
            &ALERT_USD,
            &CLEAR_USD,
            &AT_PCT,
            &ALERT_REASON,
            &FOR_SLOTS,
            &CLEAR_FOR_SLOTS,
            &NO_DATA_SLOTS,
            &REFIRE_SLOTS,
            &REMIND_SLOTS,
            &ON_MISSING,
            &WEBHOOK_URL,
        ],
        answer: Answer::Document("AlertMade"),
        refusals: &[400, 401, 404, 409, 413, 503],
        keep: Some(Keep::Never),
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::KeepAlert, "keepAlert", "/v1/alerts")
    },
    Row {
        title: "One of your alert rules",
        about: "The state of the rule and of its webhook.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::Alert, "readAlert", "/v1/alerts/{alert}")
    },
    Row {
        method: Method::Delete,
        title: "Delete an alert rule",
        about: "The rule creates no more events, and no more of its events are sent. It stays in the list for another 30 days.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::EndAlert, "endAlert", "/v1/alerts/{alert}")
    },
    Row {
        title: "Events of an alert rule",
        about: "The rule's events of the last 30 days after `after_seq`, oldest first, with the status of their delivery. Each event names its evidence.",
        parameters: &[&ALERT_IN_PATH, &AFTER_SEQ, &LIMIT],
        answer: Answer::Document("AlertEventsKept"),
        ..own(Operation::AlertEvents, "listAlertEvents", "/v1/alerts/{alert}/events")
    },
    Row {
        method: Method::Post,
        title: "Re-send the webhook challenge",
        about: "Sends the rule's URL a challenge at once, at most three per hour and host. For a webhook that is unverified or disabled.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::AskEndpoint, "askEndpoint", "/v1/alerts/{alert}/verify")
    },
    Row {
        method: Method::Post,
        title: "Rotate the webhook keys",
        about: "New keys for everything that is sent to the rule's URL. For one day the previous keys also sign.",
        answer: Answer::Document("WebhookKeys"),
        ..own(Operation::RotateKeys, "rotateKeys", "/v1/alerts/{alert}/rotate")
    },
    Row {
        method: Method::Post,
        title: "Send events again",
        about: "The events from `from_seq` on, unchanged and with the same ids.",
        parameters: &[&ALERT_IN_PATH, &FROM_SEQ],
        answer: Answer::Document("AlertsResent"),
        ..own(Operation::SendAgain, "sendAgain", "/v1/alerts/{alert}/replay")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "Create a stream ticket",
        about: "The `ticket` for `/v1/stream`, for a browser's `EventSource`, which cannot send a token. For one day, anyone who sees the URL can read the events of the owner's rules, and nothing else.",
        answer: Answer::Document("StreamTicket"),
        refusals: &[400, 401, 404, 413, 503],
        keep: Some(Keep::Never),
        ..row(Operation::StreamTicket, "streamTicket", "/v1/alerts/ticket")
    },
];
