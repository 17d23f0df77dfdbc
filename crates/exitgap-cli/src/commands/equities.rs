//! `exitgap equities`: tokenized stocks, their current state, and how their pools trade in each session of the
//! exchange.

use exitgap_core::analytics::equity::EquityTerms;
use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{EquityAsked, EquityFileAsked, Operation, SeriesAsked};
use exitgap_api::{
    Equities, EquityListed, EquityPool, EquityScore, EquitySessionTold, Guards, Number, Problem,
    ProblemCode, parse_pool, size_as_written, slot_at,
};
use exitgap_ops::{EquityOfToken, Service};

use super::{print_json, write_file};
use crate::arguments::EquitiesArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;
use crate::source::rpc;

pub fn run(args: &EquitiesArgs, json: bool) -> Result<ExitCode, Failure> {
    let configured = load_equities(args)?;
    let with = |service: Service| service.with_equities(configured.clone());
    let Some(token) = &args.token else {
        let listed = args.source.ask_of(
            async |client| client.equities().await,
            with,
            async |service| service.equities().await,
        )?;
        if json { print_json(&listed) } else { print_list(&listed) }?;
        return Ok(ExitCode::SUCCESS);
    };
    let asked = parse_args(args, token)?;
    let score = args.source.ask_of(
        async |client| client.equity_score(&asked).await,
        with,
        async |service| service.equity(asked.clone()).await,
    )?;
    if let Some(path) = &args.file {
        let vector = of_pool(&score, args.pool.as_deref())?;
        let file = file_of(vector, &asked)?;
        let bytes = args.source.ask_of(
            async |client| client.figure(Operation::EquityFile, &vector.figure_url).await,
            with,
            async |service| {
                Ok(service.figure_file::<EquityTerms>(file.clone()).await?.bytes.to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    if json { print_json(&score) } else { print_score(&score) }?;
    Ok(if score.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

/// The tokenized stocks of the recorder's configuration, if a database is used.
fn load_equities(args: &EquitiesArgs) -> Result<Vec<EquityOfToken>, Failure> {
    let Some(path) = args.config.as_deref().filter(|_| args.source.from.api.is_none()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for chain in rpc::plan_of_file(path)?.chains() {
        found.extend(chain.equities().iter().map(|(token, of)| EquityOfToken {
            chain: chain.slug().clone(),
            token: *token,
            of: *of,
        }));
    }
    Ok(found)
}

fn parse_args(args: &EquitiesArgs, token: &str) -> Result<EquityAsked, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let mut named = token.splitn(2, '/').map(str::to_owned);
    let (chain, token) = (named.next(), named.next());
    let given = [
        ("chain", chain.as_ref()),
        ("token", token.as_ref()),
        ("size_usd", Some(&size)),
        ("gap_pct", Some(&args.gap_pct)),
    ];
    let asked: EquityAsked = question(Operation::Equity, given)?;
    Ok(EquityAsked { guards: args.source.guards()?, ..asked })
}

/// The statistics of a pool: the given one, else the deepest.
fn of_pool<'s>(score: &'s EquityScore, pool: Option<&str>) -> Result<&'s EquityPool, Problem> {
    let mut vectors = score.vectors.iter();
    let found = match pool {
        Some(pool) => vectors.find(|vector| vector.pool.eq_ignore_ascii_case(pool)),
        None => vectors.next(),
    };
    found.ok_or_else(|| {
        let detail = format!("no statistics for {}", pool.unwrap_or("any pool"));
        Problem::new(ProblemCode::UnknownPool, detail).field("pool").hint("omit --pool")
    })
}

/// The parameters of its figure file.
fn file_of(vector: &EquityPool, asked: &EquityAsked) -> Result<EquityFileAsked, Problem> {
    let series = SeriesAsked {
        pool: parse_pool(&vector.pool)?,
        base: Some(vector.base.clone()),
        size: asked.size,
        from: Some(slot_at("from", &vector.from)?),
        to: Some(slot_at("to", &vector.to)?),
        guards: Guards::default(),
    };
    Ok(EquityFileAsked { series, limit: asked.limit })
}

fn dollars(depth: Option<&Number>) -> String {
    depth.map_or("-".to_owned(), |depth| group_digits(depth.as_str()))
}

fn number(told: Option<&Number>) -> String {
    told.map_or("-".to_owned(), ToString::to_string)
}

fn print_list(listed: &Equities) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let header = [
        "<stock",
        "<session",
        "<status",
        "oracle USD",
        "basis %",
        "depth USD",
        "in one pool %",
        "<token",
    ];
    let mut table = Columns::new(&header);
    for equity in &listed.equities {
        let EquityListed { chain, token, symbol, depth_usd, concentration_pct, state, .. } = equity;
        let state = state.as_ref();
        table.row(vec![
            printable(symbol.as_deref().unwrap_or("-")),
            printable(state.map_or("-", |state| &state.session)),
            stands(equity).to_owned(),
            number(state.map(|state| &state.oracle_price_usd)),
            number(state.and_then(|state| state.basis_pct.as_ref())),
            group_digits(depth_usd.as_str()),
            number(concentration_pct.as_ref()),
            format!("{}/{}", printable(chain), printable(token)),
        ]);
    }
    Ok(write!(out, "{table}")?)
}

/// The current state of a tokenized stock, in a word.
fn stands(equity: &EquityListed) -> &'static str {
    match &equity.state {
        None => "not recorded",
        Some(state) if state.feed_paused == Some(true) => "PAUSED",
        Some(state) if state.corporate_action => "CHANGES SOON",
        Some(state) if !state.facts_whole => "facts missing",
        Some(_) => "normal",
    }
}

fn print_score(score: &EquityScore) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let EquityScore { listed, size_usd, gap_pct, .. } = score;
    let symbol = printable(listed.symbol.as_deref().unwrap_or("-"));
    writeln!(
        out,
        "{symbol} ({}), gaps at {} USD",
        printable(&listed.kind),
        group_digits(size_usd.as_str())
    )?;
    writeln!(out, "{:<16}{}", "status", stands(listed))?;
    if let Some(state) = &listed.state {
        writeln!(
            out,
            "{:<16}{} at {}",
            "session",
            printable(&state.session),
            printable(&state.slot_time)
        )?;
        writeln!(out, "{:<16}{} USD per token", "oracle", state.oracle_price_usd)?;
        if let Some(price) = &state.ui_price_usd {
            writeln!(out, "{:<16}{price} USD as shown in wallets", "in wallets")?;
        }
        if let Some(at) = state.effective_at.as_deref().filter(|_| state.corporate_action) {
            writeln!(out, "{:<16}{}", "changes", printable(at))?;
        }
    }
    let one = number(listed.concentration_pct.as_ref());
    writeln!(
        out,
        "{:<16}{} USD, {one}% in the deepest pool",
        "depth",
        group_digits(listed.depth_usd.as_str())
    )?;
    for vector in &score.vectors {
        print_vector(&mut out, vector, gap_pct)?;
    }
    for left_out in &score.left_out {
        let (pool, code) = (printable(&left_out.pool), printable(&left_out.code));
        writeln!(out, "{:<16}{pool}: {code}, {}", "left out", printable(&left_out.detail))?;
    }
    Ok(writeln!(out, "{:<16}{}", "method", printable(&score.method_version))?)
}

fn print_vector(
    out: &mut impl Write,
    vector: &EquityPool,
    gap_pct: &Number,
) -> Result<(), Failure> {
    writeln!(out, "\n{} ({})", printable(&vector.pool), printable(&vector.name))?;
    if !vector.enough {
        let EquityPool { have_regular_sessions, needed_regular_sessions, .. } = vector;
        let EquityPool { have_weekends, needed_weekends, .. } = vector;
        writeln!(
            out,
            "{:<16}{have_regular_sessions} of {needed_regular_sessions} regular sessions and {have_weekends} of {needed_weekends} weekends needed",
            "too few"
        )?;
    }
    if let Some(why) = &vector.inexact_because {
        writeln!(out, "{:<16}{}", "NOT EXACT", printable(why))?;
    }
    let depth = format!("depth at {gap_pct}%");
    let header = [
        "<session",
        "slots",
        "refused",
        &depth,
        "lowest",
        "gap Q50 %",
        "Q95 %",
        "worst %",
        "basis Q50 %",
        "worst %",
    ];
    let mut table = Columns::new(&header);
    vector.sessions.iter().for_each(|session| table.row(cells(session)));
    write!(out, "{table}")?;
    for kind in vector.reopening.iter().filter(|kind| kind.reopened > 0) {
        let worst = number(kind.reopening_gap_pct_worst.as_ref());
        let (name, of) = (printable(&kind.closure_kind), kind.reopened);
        writeln!(out, "{:<16}worst gap {worst}% after {of} closures of kind {name}", "reopening")?;
    }
    for event in &vector.events {
        writeln!(
            out,
            "{:<16}{} {}",
            "event",
            printable(&event.slot_time),
            printable(&event.event)
        )?;
    }
    if let Some(balance) = &vector.balance {
        let (short, slots) = (balance.slots_short, balance.slots);
        writeln!(
            out,
            "{:<16}in {short} of {slots} slots the pool has less than a purchase pays out",
            "balance"
        )?;
    }
    let (action, without) = (vector.slots_corporate_action, vector.slots_without_facts);
    writeln!(
        out,
        "{:<16}{action} slots in corporate actions, {without} without facts",
        "left out"
    )?;
    writeln!(out, "{:<16}{} slots of the period", "missing", vector.slots_missing)?;
    Ok(writeln!(out, "{:<16}{}", "figure", printable(&vector.figure_url))?)
}

fn cells(session: &EquitySessionTold) -> Vec<String> {
    vec![
        printable(&session.session),
        session.slots.to_string(),
        session.slots_refused.to_string(),
        dollars(session.depth_usd_q50.as_ref()),
        dollars(session.depth_usd_lowest.as_ref()),
        number(session.exit_gap_pct_q50.as_ref()),
        number(session.exit_gap_pct_q95.as_ref()),
        number(session.exit_gap_pct_worst.as_ref()),
        number(session.basis_to_last_close_pct_q50.as_ref()),
        number(session.basis_to_last_close_pct_worst.as_ref()),
    ]
}
