//! `exitgap alert keep` and related commands: rules that a service stores for their owner.

use std::io::Write;

use exitgap_api::{
    AlertEventKept, AlertEventTold, AlertKept, AlertMade, Problem, ProblemCode, usd_as_written,
};
use exitgap_core::ids::Code;
use serde_json::{Map, Value, json};

use super::print_json;
use crate::alert_arguments::{EventsArgs, KeepArgs, OwnedArgs, OwnerArgs, ResendArgs};
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::source::api;

/// Maximum number of events per request.
const PAGE: u32 = 1_000;

fn token(owner: &OwnerArgs) -> Result<&str, Failure> {
    owner.token.as_deref().ok_or_else(|| {
        Problem::new(ProblemCode::TokenRequired, "no token given")
            .hint("give --token or EXITGAP_ALERTS_TOKEN: the token shown when the first alert was created")
            .into()
    })
}

fn parse_alert_id(alert: &str) -> Result<Code, Failure> {
    alert.parse().map_err(|_| {
        Problem::new(ProblemCode::InvalidParameter, format!("{alert:?} is not a valid alert id"))
            .field("alert")
            .hint("`exitgap alert list` shows your alerts")
            .into()
    })
}

/// The members of the request that were given.
fn members(args: &KeepArgs) -> Result<Map<String, Value>, Failure> {
    // The service would parse `1.000` as one dollar, but the user may mean a thousand.
    let dollars = |field, text: &Option<String>| {
        let read = text.as_deref().map(|text| usd_as_written(field, text)).transpose()?;
        Ok::<_, Problem>(read.map(|usd| usd.to_string()))
    };
    let size = dollars("size_usd", &args.size_usd)?;
    let (usd, clear_usd) = (dollars("usd", &args.usd)?, dollars("clear_usd", &args.clear_usd)?);
    let texts = [
        ("pool", Some(&args.pool)),
        ("kind", Some(&args.kind)),
        ("base", args.base.as_ref()),
        ("size_usd", size.as_ref()),
        ("pct", args.pct.as_ref()),
        ("clear_pct", args.clear_pct.as_ref()),
        ("usd", usd.as_ref()),
        ("clear_usd", clear_usd.as_ref()),
        ("at_pct", args.at_pct.as_ref()),
        ("on_missing", args.on_missing.as_ref()),
        ("webhook_url", args.webhook_url.as_ref()),
    ];
    let slots = [
        ("for_slots", args.for_slots),
        ("clear_for_slots", args.clear_for_slots),
        ("no_data_slots", args.no_data_slots),
        ("refire_slots", args.refire_slots),
        ("remind_slots", args.remind_slots),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, json!(text?))));
    let slots = slots.into_iter().filter_map(|(name, slots)| Some((name, json!(slots?))));
    let mut all: Map<String, Value> =
        texts.chain(slots).map(|(name, value)| (name.to_owned(), value)).collect();
    if !args.reason.is_empty() {
        all.insert("reason".to_owned(), json!(args.reason));
    }
    Ok(all)
}

/// Stores a rule.
pub fn keep(args: &KeepArgs, json: bool) -> Result<(), Failure> {
    let (members, token) = (members(args)?, args.owner.token.as_deref());
    let made: AlertMade =
        api::with(&args.owner.api, async |client| client.keep_alert(&members, token).await)?;
    if json {
        return print_json(&made);
    }
    let mut out = anstream::stdout().lock();
    line(&mut out, "alert", &made.alert.alert)?;
    if let Some(token) = &made.token {
        line(
            &mut out,
            "token",
            &format!("{token}  (shown only once; keep it as EXITGAP_ALERTS_TOKEN)"),
        )?;
    }
    if let Some(secret) = &made.webhook_secret {
        line(&mut out, "webhook key", &format!("{secret}  (shown only once)"))?;
    }
    let spoke = made.backtest.events.len();
    let period = format!("{} to {}", made.backtest.from, made.backtest.to);
    line(&mut out, "backtest", &format!("{spoke} events over {period}"))?;
    tell(&mut out, &made.alert)
}

/// Lists the owner's rules.
pub fn list(args: &OwnerArgs, json: bool) -> Result<(), Failure> {
    let token = token(args)?;
    let kept = api::with(&args.api, async |client| client.kept_alerts(token).await)?;
    if json {
        return print_json(&kept);
    }
    let mut out = anstream::stdout().lock();
    let mut table = Columns::new(&["<alert", "<pool", "<rule", "<now", "events", "<webhook"]);
    for alert in &kept.alerts {
        let webhook = alert.webhook.as_ref().map_or("-", |webhook| webhook.state.as_str());
        table.row(vec![
            printable(&alert.alert),
            printable(&alert.pool),
            printable(alert.rule["kind"].as_str().unwrap_or_default()),
            printable(alert.ended.as_deref().unwrap_or(&alert.state.standing)),
            alert.last_seq.to_string(),
            printable(webhook),
        ]);
    }
    if kept.alerts.is_empty() {
        writeln!(out, "no alerts")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(())
}

fn print(alert: &AlertKept, json: bool) -> Result<(), Failure> {
    if json { print_json(alert) } else { tell(&mut anstream::stdout().lock(), alert) }
}

/// Shows a rule.
pub fn show(args: &OwnedArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.owner)?, parse_alert_id(&args.alert)?);
    print(&api::with(&args.owner.api, async |client| client.kept_alert(name, token).await)?, json)
}

/// Ends a rule.
pub fn end(args: &OwnedArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.owner)?, parse_alert_id(&args.alert)?);
    print(&api::with(&args.owner.api, async |client| client.end_alert(name, token).await)?, json)
}

/// Challenges a rule's webhook again.
pub fn ask(args: &OwnedArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.owner)?, parse_alert_id(&args.alert)?);
    print(&api::with(&args.owner.api, async |client| client.ask_webhook(name, token).await)?, json)
}

/// Changes the keys of a rule's webhook.
pub fn rotate(args: &OwnedArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.owner)?, parse_alert_id(&args.alert)?);
    let keys = api::with(&args.owner.api, async |client| client.rotate_keys(name, token).await)?;
    if json {
        return print_json(&keys);
    }
    let mut out = anstream::stdout().lock();
    line(&mut out, "webhook key", &format!("{}  (shown only once)", keys.webhook_secret))?;
    line(&mut out, "public key", &keys.public_key)?;
    line(&mut out, "previous keys", &format!("also sign until {}", keys.previous_until))
}

/// Sends a rule's events again.
pub fn resend(args: &ResendArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.of.owner)?, parse_alert_id(&args.of.alert)?);
    let ask = api::with(&args.of.owner.api, async |client| {
        client.send_again(name, args.from, token).await
    });
    let sent = ask?;
    if json {
        return print_json(&sent);
    }
    line(&mut anstream::stdout().lock(), "sent again", &format!("{} events", sent.events))
}

/// Prints the complete answer, page by page.
pub fn events(args: &EventsArgs, json: bool) -> Result<(), Failure> {
    let (token, name) = (token(&args.of.owner)?, parse_alert_id(&args.of.alert)?);
    let mut all = api::with(&args.of.owner.api, async |client| {
        let mut all = client.alert_events(name, args.after, PAGE, token).await?;
        let mut last = all.events.len();
        while last == PAGE as usize {
            let more = client.alert_events(name, all.next_after_seq, PAGE, token).await?;
            last = more.events.len();
            all.next_after_seq = more.next_after_seq;
            all.events.extend(more.events);
        }
        Ok(all)
    })?;
    if json {
        return print_json(&all);
    }
    let mut out = anstream::stdout().lock();
    let mut table = Columns::new(&["seq", "<time", "<event", "<based on", "<delivery"]);
    for AlertEventKept { event, delivery, attempts, last_failure } in all.events.drain(..) {
        let AlertEventTold { seq, r#type, document, .. } = event;
        let samples = document["data"]["samples"].as_array().cloned().unwrap_or_default();
        let values: Vec<&str> =
            samples.iter().filter_map(|sample| sample["value"].as_str()).collect();
        let sent = match (delivery, last_failure) {
            (None, _) => "-".to_owned(),
            (Some(state), Some(why)) => format!("{state}, {attempts} times: {why}"),
            (Some(state), None) => state,
        };
        table.row(vec![
            seq.to_string(),
            printable(document["timestamp"].as_str().unwrap_or_default()),
            printable(&r#type),
            printable(&values.join(", ")),
            printable(&sent),
        ]);
    }
    write!(out, "{table}")?;
    Ok(())
}

fn line(out: &mut impl Write, name: &str, text: &str) -> Result<(), Failure> {
    Ok(writeln!(out, "{name:<16}{}", printable(text))?)
}

fn tell(out: &mut impl Write, alert: &AlertKept) -> Result<(), Failure> {
    let rule = &alert.rule;
    let threshold = ["pct", "usd"].iter().find_map(|name| rule[*name].as_str()).unwrap_or_default();
    let kind = rule["kind"].as_str().unwrap_or_default();
    line(out, "rule", &format!("{kind} {threshold} of {}", alert.pool))?;
    line(out, "rule hash", &alert.rule_hash)?;
    let standing = alert.ended.as_deref().unwrap_or(&alert.state.standing);
    line(out, "now", &format!("{standing}, {} events so far", alert.last_seq))?;
    line(out, "kept until", &alert.expires)?;
    let Some(webhook) = &alert.webhook else { return Ok(()) };
    line(out, "webhook", &format!("{}, {}", webhook.state, webhook.url))?;
    line(out, "public key", &webhook.public_key)?;
    if webhook.pending > 0 {
        line(out, "waiting", &format!("{} events", webhook.pending))?;
    }
    if let Some(why) = &webhook.last_failure {
        let since = webhook.failing_since.as_deref().map(|since| format!(", since {since}"));
        line(out, "last failure", &format!("{why}{}", since.unwrap_or_default()))?;
    }
    Ok(())
}
