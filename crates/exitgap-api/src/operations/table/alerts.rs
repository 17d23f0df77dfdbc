//! Slots as they come, and rules that watch them.

use super::super::parameters::{
    AFTER_SEQ, ALERT_IN_PATH, ALERT_KIND, ALERT_NAME, ALERT_PCT, ALERT_POOL, ALERT_REASON,
    ALERT_SIZE, ALERT_USD, AT_PCT, BASE, CLEAR_FOR_SLOTS, CLEAR_PCT, CLEAR_USD, FOR_SLOTS,
    FROM_SEQ, LAST_EVENT_ID, LIMIT, MAX_AGE, MIN_DAYS, NO_DATA_SLOTS, ON_MISSING, PERIOD_FROM,
    POOL, REFIRE_SLOTS, REMIND_SLOTS, REQUIRE, TICKET, TO, WATCHED, WEBHOOK_URL,
};
use super::super::{Answer, Group, Keep, Method, Operation, Row};
use super::{own, row};

pub(super) const ROWS: [Row; 10] = [
    Row {
        group: Group::Series,
        title: "Sealed slots as they come",
        about: "Server-sent events: `slot` for each sealed slot, then `pool` for each pool asked for that has a head in it. Their data are the documents `StreamedSlot` and `StreamedPool`. An id is `<slot>.<place>`, a function of the log and of the pools asked for: with `ticket` also what the owner's rules said, after the pools, as events `alert` (`AlertEventTold`), and a slot is told once all rules were evaluated with it. Who comes back with `Last-Event-ID` goes on after it, up to seven days back; further back an event `reset` names the newest slot, and the present follows. The first event has an id and no data. A comment comes every 15 seconds. At most 6 streams of one client.",
        parameters: &[&WATCHED, &TICKET, &LAST_EVENT_ID],
        answer: Answer::Bytes("text/event-stream"),
        refusals: &[400, 401, 404, 429],
        keep: None,
        ..row(Operation::Stream, "streamSlots", "/v1/stream")
    },
    Row {
        group: Group::Alerts,
        title: "When would a rule have spoken?",
        about: "Where a rule of one's own stands after a period, and every event on the way: it fires after `for_slots` breaches in a row, is over after `clear_for_slots` that are clear, and does not fire again for `refire_slots`. The rule is not kept: who asks again with the same `from` and `alert` is told the same events, and later ones, byte for byte as `exitgap alert replay` computes them of the published log. At most 31 days; 30 where no period is named.",
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
        refusals: &[400, 404, 412, 503],
        ..row(Operation::AlertsOf, "evaluateAlert", "/v1/alerts/backtest/{pool}")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "Keep a rule, and be told",
        about: "The rule is evaluated with every slot that is sealed from now on, the same events as `/v1/alerts/backtest/{pool}` and `exitgap alert replay` compute, byte for byte. Without a token one is made and told once. With `webhook_url` the events are sent there, signed as Standard Webhooks are, after the address has echoed a challenge; the key to check them with is told once. `Idempotency-Key`, with a token, makes a repeated request make one rule. So many rules for each client and for each host.",
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
        ..row(Operation::KeepAlert, "keepAlert", "/v1/alerts")
    },
    Row {
        title: "A rule of one's own",
        about: "Where it stands, and how its webhook does.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::Alert, "readAlert", "/v1/alerts/{alert}")
    },
    Row {
        method: Method::Delete,
        title: "End a rule",
        about: "It says nothing more, and nothing more of it is sent. It is listed for another 30 days.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::EndAlert, "endAlert", "/v1/alerts/{alert}")
    },
    Row {
        title: "What a rule said",
        about: "Its events of the last 30 days after `after_seq`, oldest first, and what became of their delivery. Each names its evidence.",
        parameters: &[&ALERT_IN_PATH, &AFTER_SEQ, &LIMIT],
        answer: Answer::Document("AlertEventsKept"),
        ..own(Operation::AlertEvents, "listAlertEvents", "/v1/alerts/{alert}/events")
    },
    Row {
        method: Method::Post,
        title: "Ask the webhook again",
        about: "The rule's address is sent a challenge at once, at most three an hour for each host: for one that is unverified or disabled.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::AskEndpoint, "askEndpoint", "/v1/alerts/{alert}/verify")
    },
    Row {
        method: Method::Post,
        title: "Change the webhook's keys",
        about: "New keys for all that is sent to the rule's address. For a day the ones before sign too.",
        answer: Answer::Document("WebhookKeys"),
        ..own(Operation::RotateKeys, "rotateKeys", "/v1/alerts/{alert}/rotate")
    },
    Row {
        method: Method::Post,
        title: "Send events again",
        about: "Those from `from_seq` on, as they were, under the same ids.",
        parameters: &[&ALERT_IN_PATH, &FROM_SEQ],
        answer: Answer::Document("AlertsResent"),
        ..own(Operation::SendAgain, "sendAgain", "/v1/alerts/{alert}/replay")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "A ticket for a stream",
        about: "What a browser's `EventSource`, which sends no token, gives `/v1/stream` as `ticket`: it lets whoever sees the address read what the owner's rules say, for a day, and nothing else.",
        answer: Answer::Document("StreamTicket"),
        refusals: &[400, 401, 413, 503],
        keep: Some(Keep::Never),
        ..row(Operation::StreamTicket, "streamTicket", "/v1/alerts/ticket")
    },
];
