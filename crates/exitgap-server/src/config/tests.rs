use std::fs;
use std::path::Path;

use exitgap_chain::config::{ConfigError as PlanError, FactoryKind};
use exitgap_core::ids::PoolId;

use super::*;

const PATH: &str = "folder/exitgap.toml";

fn refusal(from: &str, to: &str) -> ConfigError {
    assert!(EXAMPLE.contains(from), "{from}");
    CheckedConfig::parse(&EXAMPLE.replacen(from, to, 1), Path::new(PATH)).unwrap_err()
}

#[test]
fn the_example_is_fourteen_pools_and_says_the_defaults() {
    let checked = CheckedConfig::parse(EXAMPLE, Path::new(PATH)).unwrap();
    assert_eq!(checked.config.store.path, Path::new("folder/exitgap.db"));
    assert_eq!(checked.config.evidence.key_file, Path::new("folder/exitgap.key"));
    assert_eq!(checked.config.evidence.folder, Path::new("folder/exitgap-log"));
    assert_eq!(checked.config.recorder, RecorderConfig::default());
    assert_eq!(checked.config.log, LogConfig::default());
    assert_eq!(checked.config.http, HttpConfig::default());
    assert_eq!(checked.config.serve, ServeConfig::default());
    assert_eq!(checked.plan.chains()[0].pools().len(), 14);
    let v2: PoolId = "ethereum:0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc".parse().unwrap();
    assert!(checked.plan.pool(&v2).unwrap().fee.is_some());
}

#[test]
fn what_is_wrong_is_named_with_key_and_line() {
    let line_of = |text: &str| EXAMPLE.lines().position(|line| line.starts_with(text)).unwrap() + 1;
    let refused = |from: &str, to: &str| match refusal(from, to) {
        ConfigError::Parse { line, key, message, .. } => (line, key.unwrap_or_default(), message),
        other => panic!("{other}"),
    };
    let (line, key, message) = refused("seal_after_s = 60", "seal_after = 60");
    assert_eq!((line, key.as_str()), (line_of("seal_after_s"), "[recorder] seal_after"));
    let expected = "unknown field `seal_after`, expected one of `seal_after_s`, ";
    assert!(message.contains(expected), "{message}");
    let (line, key, _) = refused("format = \"text\"", "format = \"xml\"");
    assert_eq!((line, key.as_str()), (line_of("format"), "[log] format"));
    let (_, key, _) = refused("chain_id = 1", "chain_id = -1");
    assert_eq!(key, "[[chain]] chain_id");
    let (_, _, message) = refused("path = \"exitgap.db\"", "");
    assert!(message.contains("missing field `path`"), "{message}");
    let (line, _, _) = refused("level = \"info\"", "level = \"info");
    assert_eq!(line, line_of("level"));

    assert!(matches!(
        refusal("after_s = 60", "after_s = 90"),
        ConfigError::SealAfter { found: 90, .. }
    ));
    assert!(matches!(
        refusal("after_s = 60", "after_s = 4"),
        ConfigError::SealAfter { found: 4, .. }
    ));
    assert!(matches!(
        refusal("token0_usd = [\"usdc-usd\"]", "token0_usd = [\"dollar\"]"),
        ConfigError::Plan { error: PlanError::UnknownOracle { .. }, .. }
    ));
    let without_pools = EXAMPLE.split("[[pool]]").next().unwrap();
    assert!(matches!(
        CheckedConfig::parse(without_pools, Path::new(PATH)),
        Err(ConfigError::NoPool { .. })
    ));
}

#[test]
fn the_reading_is_shared_by_recorders_of_a_server_only() {
    let sharing = |store: &str, pools: u32| {
        let text = EXAMPLE.replace("path = \"exitgap.db\"", &format!("path = \"{store}\""));
        let line = format!("shard_pools = {pools}");
        assert!(text.contains("# shard_pools = 0"));
        CheckedConfig::parse(&text.replace("# shard_pools = 0", &line), Path::new(PATH))
    };
    let server = "postgresql://gaps@db.example/gaps";
    for pools in [0, 1, 1_000] {
        assert_eq!(sharing(server, pools).unwrap().config.recorder.shard_pools, pools);
    }
    assert_eq!(sharing("exitgap.db", 0).unwrap().config.recorder.shard_pools, 0);
    let refused = |store, pools| match sharing(store, pools).unwrap_err() {
        ConfigError::Serving { table: "recorder", key: "shard_pools", message, .. } => message,
        other => panic!("{other}"),
    };
    assert!(refused(server, 1_001).contains("1001 is above the limit of 1000"));
    assert!(refused("exitgap.db", 250).contains("[store] path is a file"));
}

#[test]
fn a_key_in_a_url_is_not_repeated() {
    for wrong in
        ["\"https://host/SECRET\"", "[\"ftp://host/SECRET\"]", "[\"https://host/SECRET\", 7]"]
    {
        let error =
            refusal("rpc_urls = [\"http://127.0.0.1:8545\"]", &format!("rpc_urls = {wrong}"));
        let text = error.to_string();
        assert!(text.contains("[[chain]] rpc_urls") && !text.contains("SECRET"), "{text}");
    }
}

#[test]
fn a_chains_second_node_and_sequencer_are_read() {
    let with = |keys: &str| {
        let text = EXAMPLE.replacen("chain_id = 1\n", &format!("chain_id = 1\n{keys}\n"), 1);
        CheckedConfig::parse(&text, Path::new(PATH))
    };
    let same = with("second_rpc_url = \"http://127.0.0.1:8545\"").unwrap_err();
    let compared = matches!(same, ConfigError::Plan { error: PlanError::SecondIsFirst { .. }, .. });
    assert!(compared, "{same}");
    let wrong = with("second_rpc_url = [\"https://host/SECRET\"]").unwrap_err().to_string();
    assert!(wrong.contains("second_rpc_url") && !wrong.contains("SECRET"), "{wrong}");
    let feed = "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419";
    let keys = format!("sequencer_uptime_feed = \"{feed}\"\nsequencer_grace_s = 60");
    let sequencer = with(&keys).unwrap().plan.chains()[0].sequencer().unwrap();
    assert_eq!((sequencer.feed.to_string(), sequencer.grace_s), (feed.to_lowercase(), 60));
    assert_eq!(with("").unwrap().plan.chains()[0].sequencer(), None);
}

#[test]
fn factories_are_those_of_the_chain_and_those_that_are_named() {
    let with = |keys: &str| {
        let text = EXAMPLE.replacen("[[oracle]]", &format!("{keys}\n[[oracle]]"), 1);
        CheckedConfig::parse(&text, Path::new(PATH))
    };
    let module = "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419";
    let named = format!(
        "[[chain.factory]]\naddress = \"{module}\"\nkind = \"slipstream\"\nfee_modules = [\"{module}\"]"
    );
    let checked = with(&named).unwrap();
    let before = with("").unwrap();
    let [first, known @ ..] = checked.plan.chains()[0].factories() else { panic!("none") };
    assert_eq!(known, before.plan.chains()[0].factories());
    assert_eq!(first.kind, FactoryKind::Slipstream);
    assert_eq!(first.fee_modules, [first.address]);
    let unknown = with(&named.replace("slipstream", "sushi")).unwrap_err().to_string();
    assert!(unknown.contains("sushi"), "{unknown}");
    let wrong = with(&named.replacen("5f4e", "5F4e", 1)).unwrap_err().to_string();
    assert!(wrong.contains("EIP-55"), "{wrong}");
    let many = with(&vec![named; 33].join("\n")).unwrap_err();
    assert!(many.to_string().contains("factory"), "{many}");
}

#[test]
fn environment_variables_count_more_and_unknown_ones_are_refused() {
    let parse = |variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        CheckedConfig::parse_with(EXAMPLE, Path::new(PATH), variables)
    };
    let checked = parse(&[
        ("EXITGAP_HTTP_LISTEN", "0.0.0.0:80"),
        ("EXITGAP_HTTP_BASE_URL", "https://api.example.org/"),
        ("EXITGAP_HTTP_RATE_PER_MINUTE", "0"),
        ("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "7"),
        ("EXITGAP_SERVE_OPERATORS", "127.0.0.1:9090"),
        ("EXITGAP_SERVE_READERS", "8"),
        ("EXITGAP_SERVE_CACHE_MIB", "16"),
        ("EXITGAP_STORE_PATH", "/data/series.db"),
        ("EXITGAP_LOG_FORMAT", "json"),
        ("EXITGAP_CHAIN_ETHEREUM_RPC_URLS", "https://a.example/secret, https://b.example"),
        ("EXITGAP_CHAIN_ETHEREUM_SECOND_RPC_URL", "https://c.example/secret"),
        ("EXITGAP_CONFIG", "of the command line"),
        ("PATH", "of the system"),
    ])
    .unwrap();
    let Config { store, http, serve, log, chain, .. } = &checked.config;
    assert_eq!(http.max_connections_per_address, 7);
    assert_eq!(serve.operators, Some("127.0.0.1:9090".parse().unwrap()));
    assert_eq!(serve.bounds(), Bounds { readers: 8, cache_bytes: 16 << 20 });
    assert_eq!(store.path, Path::new("/data/series.db"));
    assert_eq!(http.listen.port(), 80);
    assert_eq!(http.rate_per_minute, 0);
    assert_eq!(log.format, LogFormat::Json);
    assert_eq!(chain[0].rpc_urls.len(), 2);
    assert_eq!(checked.plan.chains()[0].second_url().unwrap().to_string(), "https://c.example");
    assert_eq!(http.urls().base, "https://api.example.org");
    assert_eq!(http.urls().web, "https://api.example.org");

    let refused = |name: &str, value: &str| parse(&[(name, value)]).unwrap_err().to_string();
    for (name, value) in [
        ("EXITGAP_HTTP_LISTEN", "everywhere"),
        ("EXITGAP_HTTP_RATE_PER_MINUTE", "-1"),
        ("EXITGAP_LOG_LEVEL", "loud"),
        ("EXITGAP_SERVE_OPERATORS", "localhost"),
        ("EXITGAP_SERVE_READER", "4"),
        ("EXITGAP_HTTP_LISTENS", "0.0.0.0:80"),
        ("EXITGAP_CHAIN_MARS_RPC_URLS", "http://127.0.0.1:1"),
        ("EXITGAP_CHAIN_ETHEREUM_RPC_URLS", "ftp://secret"),
        ("EXITGAP_CHAIN_ETHEREUM_SECOND_RPC_URL", "ftp://secret"),
    ] {
        let error = refused(name, value);
        assert!(error.contains(name) && !error.contains("secret"), "{error}");
    }
    let error = refused("EXITGAP_HTTP_BASE_URL", "api.example.org");
    assert!(error.contains("[http] base_url"), "{error}");
    let error = refused("EXITGAP_HTTP_CLIENT_IP_HEADER", "x forwarded");
    assert!(error.contains("[http] client_ip_header"), "{error}");
    let error = refused("EXITGAP_HTTP_MAX_CONNECTIONS", "0");
    assert!(error.contains("[http] max_connections"), "{error}");
    for (variable, key) in [("READERS", "readers"), ("CACHE_MIB", "cache_mib")] {
        for value in ["0", "65537"] {
            let error = refused(&format!("EXITGAP_SERVE_{variable}"), value);
            assert!(error.contains(&format!("[serve] {key}")), "{error}");
        }
    }
}

#[test]
fn shocks_are_named_once_and_of_a_week_at_most() {
    let pool = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";
    let good = format!(
        "\n[[shock]]\nname = \"sept\"\nabout = \"a week of it\"\npool = \"{pool}\"\n\
         from = \"2026-09-01T00:00:00Z\"\nto = \"2026-09-07T23:55:00Z\"\n"
    );
    let parse =
        |tables: &str| CheckedConfig::parse(&format!("{EXAMPLE}{tables}"), Path::new("e.toml"));
    let checked = parse(&good).unwrap();
    let [shock] = &checked.shocks[..] else { panic!("{:?}", checked.shocks) };
    assert_eq!(
        (&shock.name[..], shock.decay.move_e8, shock.decay.within_slots),
        ("sept", 2_000_000, 3)
    );
    assert_eq!(shock.to.number() - shock.from.number(), 7 * 288 - 1);
    let names = |count: u32| -> String {
        (0..count).map(|n| good.replace("\"sept\"", &format!("\"m{n}\""))).collect()
    };
    assert_eq!(parse(&names(16)).unwrap().shocks.len(), 16);
    for (tables, said) in [
        (good.repeat(2), "[[shock]] name: sept: two shocks have this name"),
        (names(17), "[[shock]] name: 17 [[shock]] tables exceed the limit of 16"),
        (good.replace("sept", "In Sept"), "[[shock]] name: In Sept: write 1 to 32"),
        (good.replace("a week of it", ""), "[[shock]] about: sept: write 1 to 200"),
        (
            good.replace("ethereum:", "base:"),
            "[[shock]] pool: sept: no [[chain]] has the slug base",
        ),
        (good.replace("23:55", "25:55"), "[[shock]] to: sept: "),
        (good.replace("07T23:55", "08T00:00"), "[[shock]] to: sept: 2026-09-01T00:00:00Z to"),
        (good.replace("2026-09-07", "2026-08-23"), "[[shock]] from: sept: from is after to"),
        (format!("{good}within_slots = 49\n"), "[[shock]] within_slots: sept: "),
        (format!("{good}move_pct = \"0\"\n"), "[[shock]] move_pct: sept: "),
        (format!("{good}gap_pct = \"-1\"\n"), "[[shock]] gap_pct: sept: "),
        (format!("{good}size_usd = \"1\"\n"), "unknown field"),
    ] {
        let refused = parse(&tables).unwrap_err().to_string();
        assert!(refused.contains(said), "{said}: {refused}");
    }
}

/// The commented-out shock of the example is valid once its lines are uncommented.
#[test]
fn the_shock_of_the_example_is_one() {
    let shown = EXAMPLE.split_once("# [[shock]]").unwrap().1.split("\n\n").next().unwrap();
    let lines: Vec<&str> = shown.lines().map(|line| line.trim_start_matches("# ")).collect();
    let shown = lines.join("\n");
    let checked =
        CheckedConfig::parse(&format!("{EXAMPLE}\n[[shock]]{shown}"), Path::new(PATH)).unwrap();
    let [shock] = &checked.shocks[..] else { panic!("{:?}", checked.shocks) };
    assert_eq!(
        (&shock.name[..], shock.to.number() - shock.from.number()),
        ("first-of-october", 287)
    );
}

#[test]
fn terms_of_redemption_are_read_with_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exitgap.toml");
    let table = |chain: &str, token: &str, file: &str| {
        format!("\n[[redemption]]\nchain = \"{chain}\"\ntoken = \"{token}\"\nterms = \"{file}\"\n")
    };
    let parse = |tables: &str| CheckedConfig::parse(&format!("{EXAMPLE}{tables}"), &path);
    let terms = r#"{"v": 1, "kind": "at_once", "eligibility": "all", "source": "here", "read_on": "2026-08-20"}"#;
    fs::write(folder.path().join("terms.json"), terms).unwrap();
    fs::write(folder.path().join("wrong.json"), terms.replace("at_once", "soon")).unwrap();
    fs::write(folder.path().join("long.json"), "x".repeat(20_000)).unwrap();
    let usdc = "0xA0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
    let checked = parse(&table("ethereum", usdc, "terms.json").repeat(8)).unwrap();
    assert_eq!((checked.redemption.len(), &checked.redemption[0].terms.source[..]), (8, "here"));
    for (tables, said) in [
        (table("base", usdc, "terms.json"), "chain: no [[chain]] has the slug base"),
        (table("ethereum", "USDC", "terms.json"), "token: it is not a token address"),
        (table("ethereum", usdc, "none.json"), "none.json: No such file"),
        (table("ethereum", usdc, "wrong.json"), "wrong.json: terms: kind: must be at_once"),
        (table("ethereum", usdc, "long.json"), "is larger than the limit of 16384 bytes"),
        (table("ethereum", usdc, "terms.json").repeat(9), "more than 8 files for one token"),
        (
            (0..101).map(|n| table("ethereum", &format!("0x{n:040x}"), "terms.json")).collect(),
            "more than 100 files",
        ),
    ] {
        let refused = parse(&tables).unwrap_err().to_string();
        assert!(refused.contains(said), "{said}: {refused}");
    }
}

#[test]
fn groups_of_quote_tokens_are_checked() {
    let group = |chain: &str, name: &str, tokens: &str| {
        format!("\n[[quote_group]]\nchain = \"{chain}\"\nname = \"{name}\"\ntokens = [{tokens}]\n")
    };
    let parse = |tables: &str| CheckedConfig::parse(&format!("{EXAMPLE}{tables}"), Path::new(PATH));
    let usdc = "\"0xA0b86991c6218b36c1d19d4a2e9eb0ce3606eb48\"";
    let checked = parse(&group("ethereum", "usd", usdc)).unwrap();
    assert_eq!((checked.quote_groups.len(), checked.quote_groups[0].tokens.len()), (1, 1));
    let many = (0..101).map(|at| format!("\"0x{at:040x}\"")).collect::<Vec<_>>().join(",");
    let nine = (0..9).map(|at| format!("\"0x{at:040x}\"")).collect::<Vec<_>>().join(",");
    for (tables, said) in [
        (group("ethereum", "cash", &nine), "tokens: 9 tokens given; a sale ends in at most 8"),
        (group("base", "usd", usdc), "quote_group usd: chain: no [[chain]] has the slug base"),
        (group("ethereum", "any", usdc), "quote_group any: name: any means any token"),
        (group("ethereum", "US D", usdc), "quote_group US D: name: write 1 to 32"),
        (group("ethereum", "usd", ""), "tokens: 0 tokens given; give 1 to 100"),
        (group("ethereum", "usd", &many), "tokens: 101 tokens given; give 1 to 100"),
        (group("ethereum", "usd", "\"USDC\""), "tokens: \"USDC\" is not a token address"),
        (group("ethereum", "usd", &format!("{usdc},{usdc}")), "is listed twice"),
        (group("ethereum", "usd", usdc).repeat(2), "name: two groups of ethereum have this name"),
        (
            group("ethereum", "usd", usdc).repeat(101),
            "101 [[quote_group]] tables exceed the limit of 100",
        ),
    ] {
        let refused = parse(&tables).unwrap_err().to_string();
        assert!(refused.contains(said) && refused.starts_with(PATH), "{refused}");
    }
}
