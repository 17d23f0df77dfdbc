use std::collections::BTreeSet;

use exitgap_core::ids::{SnapshotHash, StateHash};

use super::parameters::{AFTER_MOVE, AMOUNT, BASE, POSITION, SIZE, SIZE_OR_AMOUNT};
use super::*;
use crate::{Problem, ProblemCode};

const POOL: &str = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";

/// Parses an operation's address as the service does, and ignores the parsed values.
fn read(operation: Operation, named: &str, query: &str) -> Result<(), Problem> {
    use Operation as O;
    let named = Some(named);
    match operation {
        O::StreamTicket => operation.parse_question::<()>(named, query).map(drop),
        O::Stream => operation.parse_question::<StreamAsked>(named, query).map(drop),
        O::KeepAlert => operation.parse_question::<KeepAsked>(named, query).map(drop),
        O::Alert | O::EndAlert | O::AskEndpoint | O::RotateKeys => {
            operation.parse_question::<NamedAlert>(named, query).map(drop)
        }
        O::AlertEvents => operation.parse_question::<EventsAsked>(named, query).map(drop),
        O::SendAgain => operation.parse_question::<SendAgainAsked>(named, query).map(drop),
        O::AlertsOf => operation.parse_question::<AlertAsked>(named, query).map(drop),
        O::Accuracy => operation.parse_question::<AccuracyAsked>(named, query).map(drop),
        O::AccuracyFile => operation.parse_question::<AccuracyFileAsked>(named, query).map(drop),
        O::Pools | O::AccuracyTable => {
            operation.parse_question::<PoolsAsked>(named, query).map(drop)
        }
        O::Exit | O::Redemption => operation.parse_question::<ExitAsked>(named, query).map(drop),
        O::MaxSize => operation.parse_question::<MaxSizeAsked>(named, query).map(drop),
        O::Simulation => operation.parse_question::<SimulationAsked>(named, query).map(drop),
        O::Ladder => operation.parse_question::<SnapshotAsked>(named, query).map(drop),
        O::History => operation.parse_question::<HistoryAsked>(named, query).map(drop),
        O::Stress => operation.parse_question::<StressAsked>(named, query).map(drop),
        O::When => operation.parse_question::<SeriesAsked>(named, query).map(drop),
        O::Hours => operation.parse_question::<HoursAsked>(named, query).map(drop),
        O::HoursFile => operation.parse_question::<HoursFileAsked>(named, query).map(drop),
        O::Equity => operation.parse_question::<EquityAsked>(named, query).map(drop),
        O::EquityFile => operation.parse_question::<EquityFileAsked>(named, query).map(drop),
        O::Export => operation.parse_question::<ExportAsked>(named, query).map(drop),
        O::Cash => operation.parse_question::<CashAsked>(named, query).map(drop),
        O::CashFile => operation.parse_question::<CashFileAsked>(named, query).map(drop),
        O::PortfolioFile => operation.parse_question::<PortfolioFileAsked>(named, query).map(drop),
        O::Routes => operation.parse_question::<RoutesAsked>(named, query).map(drop),
        O::Decay => operation.parse_question::<DecayAsked>(named, query).map(drop),
        O::DecayFile => operation.parse_question::<DecayFileAsked>(named, query).map(drop),
        O::DepthsFile => operation.parse_question::<DepthsFileAsked>(named, query).map(drop),
        O::Exposure => operation.parse_question::<ExposureAsked>(named, query).map(drop),
        O::ExposureFile => operation.parse_question::<ExposureFileAsked>(named, query).map(drop),
        O::VenueStress => operation.parse_question::<VenueStressAsked>(named, query).map(drop),
        O::VenueStressFile => {
            operation.parse_question::<VenueStressFileAsked>(named, query).map(drop)
        }
        O::Fragility => operation.parse_question::<BoardAsked>(named, query).map(drop),
        O::Portfolio => operation.parse_question::<PortfolioAsked>(named, query).map(drop),
        O::Evidence => operation.parse_question::<EvidenceAsked>(named, query).map(drop),
        O::StateProof => operation.parse_question::<StateProofAsked>(named, query).map(drop),
        O::Window | O::SlotStatus | O::Snapshots | O::Fills | O::Issued => {
            operation.parse_question::<SlotAsked>(named, query).map(drop)
        }
        O::Snapshot => operation.parse_question::<SnapshotHash>(named, query).map(drop),
        O::State => operation.parse_question::<StateHash>(named, query).map(drop),
        O::Log => operation.parse_question::<LogFileAsked>(named, query).map(drop),
        O::Capabilities
        | O::Equities
        | O::Shocks
        | O::Payments
        | O::Alerts
        | O::Livez
        | O::Readyz
        | O::Metrics => operation.parse_question::<()>(named, query),
    }
}

/// A valid value of a parameter.
fn example(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Pool | Kind::Pools => POOL.to_owned(),
        Kind::Chain => "ethereum".to_owned(),
        Kind::Size => "250000.5".to_owned(),
        Kind::Token => "token1".to_owned(),
        Kind::Date => "2026-08-22".to_owned(),
        Kind::Instant => "2026-08-22T12:00:00Z".to_owned(),
        Kind::Slot | Kind::SlotCursor => "5957900".to_owned(),
        Kind::Rank | Kind::Whole(..) | Kind::Share | Kind::Tick => "7".to_owned(),
        Kind::Address => format!("0x{}", "ab".repeat(20)),
        Kind::Cost | Kind::Amount => "2.5".to_owned(),
        Kind::Units => "7000".to_owned(),
        Kind::Sold => format!("0x{}:7000", "ab".repeat(20)),
        Kind::Into => format!("0x{},0x{}", "cd".repeat(20), "ef".repeat(20)),
        Kind::Days => "0.5".to_owned(),
        Kind::Gap => "-0.25".to_owned(),
        Kind::OneOf(words) => words[0].to_owned(),
        Kind::Positions => format!("{POOL}/token0:1000"),
        Kind::Venues => format!("{POOL}/token0"),
        Kind::Code | Kind::Word => "rpc_unavailable".to_owned(),
        Kind::EventId => "5957900.1".to_owned(),
        Kind::Ticket => format!("ext_{}", "A".repeat(70)),
        Kind::Hash => format!("0x{}", "ab".repeat(32)),
        Kind::LogFile => "checkpoint".to_owned(),
        Kind::WebhookUrl => "https://hooks.example/exits".to_owned(),
        Kind::EvidenceUrl => format!("/api/v1/exit/{POOL}?base=token0&slot=5957900&size_usd=1"),
    }
}

/// The address with a value for every parameter, where `other` replaces one of them.
fn address(row: &Row, other: Option<(&str, &str)>) -> (String, String) {
    let value = |parameter: &Parameter| match other {
        Some((name, value)) if name == parameter.name => value.to_owned(),
        _ => example(parameter),
    };
    // An amount is given in place of a size.
    let is_left_out =
        |one: &Parameter| *one == AMOUNT && other.is_none_or(|(name, _)| name != one.name);
    let of = |place: Place| {
        row.parameters.iter().filter(move |one| one.place == place && !is_left_out(one))
    };
    let named = of(Place::Path).map(|parameter| value(parameter)).collect::<Vec<_>>().join("/");
    let target = of(Place::Query).fold(row.operation.target_of(&named), |target, parameter| {
        target.with(parameter, value(parameter))
    });
    let query = target.as_str().split_once('?').map_or("", |(_, query)| query);
    (named, query.to_owned())
}

/// A parameter in the table that no code reads would be described but ignored.
#[test]
fn every_parameter_of_the_table_is_read() {
    for row in Operation::list_all().map(Operation::row) {
        let (named, query) = address(row, None);
        read(row.operation, &named, &query).unwrap();
        for parameter in row.parameters {
            if parameter.kind == Kind::LogFile {
                continue; // Any path is asked for; which there are the folder knows.
            }
            let (named, query) = address(row, Some((parameter.name, "\u{1}")));
            let problem = read(row.operation, &named, &query);
            let problem = problem.expect_err(parameter.name);
            assert_eq!(problem.field.as_deref(), Some(parameter.name), "{}: {problem:?}", row.id);
            assert_eq!(problem.code.http_status(), 400, "{}: {problem:?}", row.id);
            let hint = problem.hint.unwrap_or_default();
            assert!(!hint.is_empty(), "{}: {}", row.id, parameter.name);
        }
    }
}

#[test]
fn what_is_missing_repeated_or_unknown_is_refused_by_name() {
    for row in Operation::list_all().map(Operation::row) {
        let (named, query) = address(row, None);
        let in_query = |one: &&&Parameter| one.place == Place::Query && ***one != AMOUNT;
        for parameter in row.parameters.iter().filter(in_query) {
            let pairs = query.split('&');
            let without: Vec<_> =
                pairs.filter(|pair| !pair.starts_with(&format!("{}=", parameter.name))).collect();
            let left_out = read(row.operation, &named, &without.join("&"));
            // Two ticks must be given together, and slots belong to a move.
            let wanted = parameter.is_required()
                || parameter.kind == Kind::Tick
                || [AFTER_MOVE, SIZE_OR_AMOUNT].contains(parameter);
            assert_eq!(left_out.is_err(), wanted, "{}: {left_out:?}", row.id);
            if let Err(problem) = left_out {
                assert_eq!(problem.field.as_deref(), Some(parameter.name));
                assert_eq!(problem.code, ProblemCode::InvalidParameter);
            }
            if !parameter.kind.is_repeated() {
                let twice = format!("{query}&{}=1", parameter.name);
                let problem = read(row.operation, &named, &twice).unwrap_err();
                assert!(problem.detail.contains("more than once"), "{}: {problem:?}", row.id);
            }
        }
        // The names of path parameters are not accepted in the query either.
        let is_other = |name: &&str| {
            let query = |one: &&&Parameter| one.place == Place::Query;
            row.parameters.iter().filter(query).all(|one| one.name != *name)
        };
        for name in ["sise", "pool", "hash", "path", ""].into_iter().filter(is_other) {
            let problem = read(row.operation, &named, &format!("{query}&{name}=1"));
            let code = problem.map_err(|problem| problem.code);
            let expected = Err(ProblemCode::UnknownParameter);
            assert_eq!(code, expected, "{}: {name:?}", row.id);
        }
    }
}

#[test]
fn every_default_is_a_value_of_its_kind_and_of_its_schema() {
    for row in Operation::list_all().map(Operation::row) {
        for parameter in row.parameters {
            let Presence::Default(text) = parameter.presence else { continue };
            let (named, query) = address(row, Some((parameter.name, text)));
            read(row.operation, &named, &query).unwrap();
            let schema = parameter.schema();
            let of_words = schema["enum"].as_array();
            let of_type = || match schema["type"].as_str() {
                Some("integer") => schema["default"].is_u64(),
                Some("string") => schema["pattern"].is_string() && schema["default"].is_string(),
                _ => false,
            };
            let fits = of_words.map_or_else(of_type, |words| words.contains(&schema["default"]));
            assert!(fits, "{}: {schema}", row.id);
            assert!(parameter.about.contains(text) || parameter.name == "sort", "{}", row.id);
        }
    }
}

#[test]
fn names_and_addresses_are_used_once_and_what_varies_stands_together() {
    let rows: Vec<&Row> = Operation::list_all().map(Operation::row).collect();
    let ids: BTreeSet<_> = rows.iter().map(|row| row.id).collect();
    let templates: BTreeSet<_> = rows.iter().map(|row| (row.template, row.method.name())).collect();
    assert_eq!((ids.len(), templates.len()), (rows.len(), rows.len()));
    for row in rows {
        assert_eq!(row.operation.template(), row.template);
        let in_path = row.parameters.iter().filter(|one| one.place == Place::Path);
        let varies = in_path.map(|one| format!("{{{}}}", one.name)).collect::<Vec<_>>().join("/");
        let (before, after) = (row.operation.prefix(), row.operation.suffix());
        assert_eq!(row.template, format!("{before}{varies}{after}"));
        let target = row.operation.target_of(varies.replace(['{', '}'], ""));
        assert!(row.operation.is_at(target.path()), "{}", row.template);
        assert!(row.method == Method::Get || row.keep == Some(Keep::Never), "{}", row.id);
        assert!(!row.title.is_empty() && !row.about.is_empty(), "{}", row.id);
    }
    assert_eq!(
        Operation::list_all()
            .filter(|one| one.row().price == PriceClass::Priced)
            .collect::<Vec<_>>(),
        [Operation::Exit],
        "evidence, board and published history are free, for good"
    );
}

#[test]
fn an_address_is_written_as_it_is_read() {
    let target = Operation::Exit.target_of(POOL).with(&SIZE, "1000").with(&BASE, "A&B =\u{e9}");
    assert_eq!(target.path(), format!("/v1/exit/{POOL}"));
    assert_eq!(target.as_str(), format!("/v1/exit/{POOL}?size_usd=1000&base=A%26B+%3D%C3%A9"));
    let target = Operation::Exit.target_of(POOL).with(&SIZE, "1000").with(&BASE, "A&B ?");
    let query = target.as_str().split_once('?').unwrap().1;
    let asked: ExitAsked = Operation::Exit.parse_question(Some(POOL), query).unwrap();
    assert_eq!(asked.snapshot.base.as_deref(), Some("A&B ?"));
    assert_eq!(
        (asked.snapshot.pool.to_string().as_str(), asked.size.to_string()),
        (POOL, "1000".to_owned())
    );

    let positions = [
        PositionAsked {
            held: Held::InPool { pool: POOL.parse().unwrap(), base: None },
            size: "0.01".parse().unwrap(),
        },
        position_as_written(&format!("{}/W ETH:250k", POOL.to_uppercase().replace("0X", "0x")))
            .unwrap(),
    ];
    let target = positions
        .iter()
        .fold(Operation::Portfolio.target(), |target, position| target.with(&POSITION, position));
    let query = target.as_str().split_once('?').unwrap().1;
    let asked: PortfolioAsked = Operation::Portfolio.parse_question(None, query).unwrap();
    assert_eq!(asked.positions, positions);
    // The text that a page writes into its field and its link is parsed correctly there, even if its size has three
    // decimals.
    for (number, written) in [("1.234", "1.2340"), ("250000", "250000"), ("0.01", "0.01")] {
        for position in &positions {
            let position = PositionAsked { size: number.parse().unwrap(), ..position.clone() };
            let text = position.to_written();
            assert!(text.ends_with(&format!(":{written}")), "{text}");
            assert_eq!(position_as_written(&text).unwrap(), position);
        }
    }
}

#[test]
fn an_evidence_address_is_read_whichever_host_it_names() {
    let url = format!(
        "https://exitgap.example/api/v1/exit/{POOL}?base=token1&slot=5957900&size_usd=5&method_version=1.0.0#x"
    );
    let of = EvidenceOf::from_url(&url).unwrap();
    assert_eq!(url, format!("https://exitgap.example{}#x", of.target()));
    let written = EvidenceOf::up_to_size(&of.pool, of.base, of.slot);
    assert_eq!(EvidenceOf::with_size(&written, "5"), of.target().as_str());
    for broken in ["base=token2", "slot=1", "size_usd=x", "method_version=a"] {
        let (name, _) = broken.split_once('=').unwrap();
        let at = url.find(name).unwrap();
        let end = url[at..].find(['&', '#']).unwrap() + at;
        assert_eq!(EvidenceOf::from_url(&format!("{}{broken}{}", &url[..at], &url[end..])), None);
    }
}

#[test]
fn only_evidence_of_the_own_log_is_verified() {
    let parameters = [&parameters::EVIDENCE_URL];
    let read = |url: &str| {
        let given = Given::from_arguments(&parameters, [("evidence_url", url.into())])?;
        VerificationAsked::from_parameters(&given)
    };
    let target =
        format!("/api/v1/exit/{POOL}?base=token1&slot=5957900&size_usd=5&method_version=1.0.0");
    let own = read(&format!("https://exitgap.example{target}")).unwrap();
    let ProofOf::Exit(of) = &own.of else { panic!("{own:?}") };
    assert_eq!(of.target().as_str(), target);
    own.require_host(&["https://api.example", "https://exitgap.example"]).unwrap();
    for foreign in [
        format!("https://exitgap.example.evil.example{target}"),
        format!("https://exitgap.example@evil.example{target}"),
        format!("https://exitgap.example:1{target}"),
        format!("http://exitgap.example{target}"),
        format!("http://169.254.169.254{target}"),
        target.clone(),
    ] {
        let problem =
            read(&foreign).unwrap().require_host(&["https://exitgap.example"]).unwrap_err();
        assert_eq!(problem.code, ProblemCode::InvalidParameter, "{foreign}");
        assert_eq!(problem.field.as_deref(), Some("evidence_url"), "{foreign}");
    }
    let long = format!("https://{}{target}", "a".repeat(8_192));
    for none in ["", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", &long] {
        assert_eq!(read(none).unwrap_err().field.as_deref(), Some("evidence_url"), "{none}");
    }
}

#[test]
fn every_figure_file_is_known_by_its_address() {
    let files = Operation::list_all().filter(|operation| operation.is_figure_file());
    let mut files: Vec<_> = files.collect();
    files.sort_unstable_by_key(|operation| *operation as usize);
    let mut listed: Vec<_> = figures::figure_files().collect();
    listed.sort_unstable_by_key(|operation| *operation as usize);
    assert_eq!(files, listed);
    for operation in files {
        let parts = operation.template().split('/');
        let parts: Vec<_> =
            parts.map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let place = parts.join("/");
        for host in ["https://exitgap.example", "exitgap:", "https://a.example/b"] {
            let url = format!("{host}{place}?from=1#y");
            let Some(ProofOf::Figure(of)) = ProofOf::from_url(&url) else { panic!("{url}") };
            assert_eq!(of.operation, operation, "{url}");
            let asked = VerificationAsked { url, of: ProofOf::Figure(of) };
            asked.require_host(&["https://b.example", host]).unwrap();
            asked.require_host(&["https://b.example"]).unwrap_err();
        }
        assert_eq!(ProofOf::from_url(&format!("https://a.example/x{place}/more/of/it")), None);
    }
    // The parameters are parsed as they are at the file's own address.
    let of = FigureOf::from_url("https://a.example/api/v1/decay/x?base=token2").unwrap();
    let own = Operation::DecayFile.parse_question::<DecayFileAsked>(Some("x"), "base=token2");
    assert_eq!(of.check().unwrap_err(), own.unwrap_err());
    // The longest address is that of a portfolio.
    let sold = format!("sold=0x{}:{}&", "1".repeat(40), "9".repeat(40)).repeat(24);
    let pools = format!("pool=ethereum:0x{}&", "2".repeat(64)).repeat(24);
    let longest = format!("https://exitgap.example/api/v1/portfolio/ethereum?{sold}{pools}slot=1");
    let given = [("evidence_url", longest.as_str().into())];
    let given = Given::from_arguments(&[&parameters::EVIDENCE_URL], given).unwrap();
    VerificationAsked::from_parameters(&given).unwrap();
}

#[test]
fn arguments_by_name_are_known_by_name() {
    let parameters = Operation::Exit.row().parameters;
    let arguments = [("pool", POOL.into()), ("size_usd", "5".into()), ("base", "token1".into())];
    let asked =
        ExitAsked::from_parameters(&Given::from_arguments(parameters, arguments).unwrap()).unwrap();
    assert_eq!(asked.size.to_string(), "5");
    let problem = Given::from_arguments(parameters, [("sise_usd", "5".into())]).unwrap_err();
    assert_eq!(problem.code, ProblemCode::UnknownParameter);
    assert_eq!(problem.detail, "\"sise_usd\" is not a parameter of this tool");
    assert!(problem.hint.unwrap().starts_with("it takes pool, size_usd, base"));
}

#[test]
fn a_whole_number_of_a_body_may_be_written_with_a_fraction_of_zero() {
    let parameters = Operation::KeepAlert.row().parameters;
    let read = |number: &str| {
        let body =
            format!("{{\"kind\":\"oracle_stale\",\"pool\":\"{POOL}\",\"no_data_slots\":{number}}}");
        let body = serde_json::from_str(&body).unwrap();
        KeepAsked::from_parameters(&Given::body(parameters, None, &body)?)
    };
    for number in ["40", "40.0", "4.0e1"] {
        assert_eq!(read(number).unwrap().rule.rule["no_data_slots"], 40, "{number}");
    }
    for number in ["40.5", "-1.0", "289.0", "1e300"] {
        assert_eq!(read(number).unwrap_err().field.as_deref(), Some("no_data_slots"), "{number}");
    }
}

#[test]
fn days_before_the_series_are_days_all_the_same() {
    let read = |query: &str| Operation::Export.parse_question::<ExportAsked>(None, query);
    for before in ["0001-01-01", "1969-12-31", "2000-02-29", "2026-08-21"] {
        assert_eq!(read(&format!("from={before}")).unwrap().from, None, "{before}");
        let problem = read(&format!("to={before}")).unwrap_err();
        assert_eq!(problem.code, ProblemCode::BeforeSeries, "{before}");
    }
    assert!(read("from=2026-08-22").unwrap().from.is_some());
    for wrong in ["2000-02-30", "2026-8-22", "2026-08-22T", "20000101", ""] {
        for name in ["from", "to"] {
            let problem = read(&format!("{name}={wrong}")).unwrap_err();
            assert_eq!(problem.code, ProblemCode::InvalidParameter, "{name}={wrong}");
        }
    }
}

/// What the schema's patterns of shares take, the parameters take.
#[test]
fn shares_are_taken_up_to_the_bounds_of_their_patterns() {
    let pool = format!("venue={POOL}&cascade_usd=1");
    let exposure = |query: &str| read(Operation::Exposure, "", &format!("{pool}&{query}"));
    for fall in ["0", "00.000000", "98.999999", "0099", "99.000000"] {
        exposure(&format!("fall_pct={fall}")).unwrap();
    }
    for fall in ["99.000001", "100"] {
        exposure(&format!("fall_pct={fall}")).unwrap_err();
    }
    let decay = |query: &str| read(Operation::Decay, POOL, query);
    for share in ["0.000001", "00.1", "9", "99.999999", "100.0"] {
        decay(&format!("move_pct={share}&gap_pct={share}")).unwrap();
    }
    for share in ["0", "0.0", "100.000001"] {
        decay(&format!("move_pct={share}")).unwrap_err();
        decay(&format!("gap_pct={share}")).unwrap_err();
    }
}
