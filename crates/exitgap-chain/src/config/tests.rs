use exitgap_core::snapshot::ChainKind;
use exitgap_core::units::PriceError;

use super::*;

const GOOD: &str = r#"
[[chain]]
slug = "anvil"
chain_id = 31337
rpc_urls = ["http://127.0.0.1:8545/secret-key"]

[[oracle]]
name = "eth-usd"
chain = "anvil"
source = "chainlink"
feed = "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419"
heartbeat_s = 3600

[[oracle]]
name = "usdc-usd"
chain = "anvil"
source = "fixed"
answer = "100000000"
decimals = 8

[[pool]]
chain = "anvil"
address = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"
base = "token1"
fee = { numerator = 3, denominator = 1000 }
token0_usd = ["usdc-usd"]
token1_usd = ["eth-usd"]
"#;

fn parse(text: &str) -> Config {
    toml::from_str(text).unwrap()
}

fn refusal(from: &str, to: &str) -> ConfigError {
    assert!(GOOD.contains(from), "{from}");
    Plan::new(&parse(&GOOD.replacen(from, to, 1))).unwrap_err()
}

#[test]
fn the_example_is_a_preview_chain_with_one_pool() {
    let plan = Plan::new(&parse(GOOD)).unwrap();
    let chain = &plan.chains()[0];
    assert_eq!(chain.tag().kind, ChainKind::Preview);
    assert_eq!(chain.multicall3().to_string(), "0xca11bde05977b3631167028862be2a173976ca11");
    let pool = &chain.pools()[0];
    assert_eq!(pool.base.base_index(), 1);
    assert_eq!(pool.oracles.len(), 2);
    assert_eq!(
        pool.oracles[0].feed,
        FeedPlan::Fixed { answer: exitgap_core::U256::from(100_000_000), decimals: 8 }
    );
}

#[test]
fn a_feeds_heartbeat_is_recorded_with_its_grace_period() {
    let recorded = |given: &str| {
        let text = GOOD.replacen("heartbeat_s = 3600", given, 1);
        let plan = Plan::new(&parse(&text)).unwrap();
        match plan.chains()[0].pools()[0].oracles[1].feed {
            FeedPlan::Chainlink { heartbeat_s, .. } => heartbeat_s,
            FeedPlan::Fixed { .. } => panic!("the second oracle is a feed"),
        }
    };
    assert_eq!(recorded("heartbeat_s = 3600"), 3_720);
    assert_eq!(recorded("heartbeat_s = 3600\nheartbeat_grace_s = 0"), 3_600);
    assert_eq!(recorded("heartbeat_s = 3600\nheartbeat_grace_s = 60"), 3_660);
    let longest = format!("heartbeat_s = 3600\nheartbeat_grace_s = {}", u32::MAX - 3_600);
    assert_eq!(recorded(&longest), u32::MAX);
}

#[test]
fn a_sequencers_grace_period_is_recorded_as_it_is_configured() {
    let text = GOOD.replacen(
        "chain_id = 31337\n",
        "chain_id = 31337\nsequencer_uptime_feed = \"0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419\"\nsequencer_grace_s = 700\n",
        1,
    );
    let plan = Plan::new(&parse(&text)).unwrap();
    assert_eq!(plan.chains()[0].sequencer().map(|plan| plan.grace_s), Some(700));
}

#[test]
fn a_known_id_is_live_and_binds_its_genesis() {
    let live = GOOD.replace("31337", "1");
    // A fixed price is not allowed on a live chain.
    assert!(matches!(
        Plan::new(&parse(&live)),
        Err(ConfigError::FixedOnLiveChain { name, .. }) if name == "usdc-usd"
    ));
    let mut config = parse(&live);
    config.oracle.remove(1);
    config.pool[0].token0_usd = vec!["eth-usd".to_owned()];
    let plan = Plan::new(&config).unwrap();
    assert_eq!(plan.chains()[0].tag().kind, ChainKind::Live);
    assert_eq!(plan.chains()[0].genesis(), Some(KnownChain::of_id(1).unwrap().genesis));
    config.chain[0].genesis_hash = Some(BlockHash([7; 32]));
    assert!(matches!(Plan::new(&config), Err(ConfigError::GenesisContradicts { .. })));
}

/// An unknown chain is live, and states its genesis hash, only if that hash is configured.
#[test]
fn a_configured_genesis_makes_an_unknown_chain_live() {
    let genesis = BlockHash([7; 32]);
    let mut config = parse(GOOD);
    assert_eq!(Plan::new(&config).unwrap().chains()[0].genesis(), None);
    config.chain[0].genesis_hash = Some(genesis);
    // Fixed prices are refused on this chain, as on every live chain.
    assert!(matches!(Plan::new(&config), Err(ConfigError::FixedOnLiveChain { .. })));
    config.oracle.remove(1);
    config.pool[0].token0_usd = vec!["eth-usd".to_owned()];
    let plan = Plan::new(&config).unwrap();
    let chain = &plan.chains()[0];
    assert_eq!(chain.tag().kind, ChainKind::Configured(genesis));
    assert_eq!(chain.genesis(), Some(genesis));
}

#[test]
fn each_mistake_has_its_own_refusal() {
    let chain_again = "[[chain]]\nslug = \"anvil\"\nchain_id = 5\nrpc_urls = [\"http://b\"]\n";
    let twice = |table: &str| Plan::new(&parse(&format!("{GOOD}\n{table}"))).unwrap_err();
    assert!(matches!(twice(chain_again), ConfigError::ChainTwice { .. }));
    let pool = &GOOD[GOOD.find("[[pool]]").unwrap()..];
    assert!(matches!(twice(pool), ConfigError::PoolTwice { .. }));
    let oracle = &GOOD[GOOD.find("[[oracle]]").unwrap()..GOOD.find("[[pool]]").unwrap()];
    assert!(matches!(twice(oracle), ConfigError::OracleTwice { .. }));

    let urls = "[\"http://127.0.0.1:8545/secret-key\"]";
    assert!(matches!(refusal(urls, "[]"), ConfigError::NoUrl { .. }));
    assert!(matches!(
        refusal(urls, "[\"http://a/k\", \"http://a/k\"]"),
        ConfigError::UrlTwice { .. }
    ));
    let nine: Vec<String> = (0..9).map(|n| format!("\"http://a/{n}\"")).collect();
    assert!(matches!(
        refusal(urls, &format!("[{}]", nine.join(","))),
        ConfigError::TooMany { found: 9, most: 8, .. }
    ));
    assert!(matches!(
        refusal("[\"eth-usd\"]", "[\"btc-usd\"]"),
        ConfigError::UnknownOracle { name, .. } if name == "btc-usd"
    ));
    assert!(matches!(
        refusal("[\"eth-usd\"]", "[]"),
        ConfigError::OracleCount { key: "token1_usd", found: 0, .. }
    ));
    assert!(matches!(
        refusal("heartbeat_s = 3600", "heartbeat_s = 0"),
        ConfigError::NoHeartbeat { .. }
    ));
    let grace_s = |seconds: u32| format!("heartbeat_s = 3600\nheartbeat_grace_s = {seconds}");
    assert!(matches!(
        refusal("heartbeat_s = 3600", &grace_s(u32::MAX - 3_599)),
        ConfigError::HeartbeatTooLong { name } if name == "eth-usd"
    ));
    assert!(matches!(refusal("denominator = 1000", "denominator = 3"), ConfigError::Fee { .. }));
    assert!(matches!(
        refusal("\"100000000\"", "0"),
        ConfigError::FixedAnswer { error: PriceError::NotPositive, .. }
    ));
    assert!(matches!(
        refusal("decimals = 8", "decimals = 37"),
        ConfigError::FixedAnswer { error: PriceError::TooManyDecimals { found: 37 }, .. }
    ));
    assert!(matches!(
        refusal("chain = \"anvil\"\nsource = \"fixed\"", "chain = \"base\"\nsource = \"fixed\""),
        ConfigError::UnknownChain { .. }
    ));
    assert_eq!(Plan::new(&Config::default()), Err(ConfigError::NoChain));
}

#[test]
fn a_managed_pool_is_named_by_its_key() {
    let key = r#"key = { currency0 = "0x5fc8d32690cc91d4c39d9d3abcbd16989f875707", currency1 = "0xdc64a140aa3e981100a9beca4e685f962f0cf6c9", fee = 0, tick_spacing = 1 }"#;
    let id = "0x68ef1452f0898868a42d3bfb35b907ea1c871ca835e0fd4cf0465b2aaa51cd24";
    let start = GOOD.find("address = ").unwrap();
    let address = GOOD[start..].lines().next().unwrap();
    let pool = |lines: &str| Plan::new(&parse(&GOOD.replacen(address, lines, 1)));
    let managed = format!("address = \"{id}\"");
    let plan = pool(&format!("{managed}\n{key}")).unwrap();
    let planned = &plan.chains()[0].pools()[0];
    assert_eq!(planned.id.to_string(), format!("anvil:{id}"));
    assert_eq!(planned.key.unwrap().id(), planned.id.contract().id());
    let wrong = |lines: String| pool(&lines).unwrap_err();
    assert!(matches!(wrong(managed.clone()), ConfigError::NoKey { .. }));
    assert!(matches!(wrong(format!("{address}\n{key}")), ConfigError::KeyOfContract { .. }));
    let other = key.replace("fee = 0", "fee = 1");
    let refused = wrong(format!("{managed}\n{other}"));
    assert!(matches!(refused, ConfigError::OtherKey { found: Some(_), .. }), "{refused}");
    let wide = key.replace("fee = 0", "fee = 16777216");
    let refused = wrong(format!("{managed}\n{wide}"));
    assert!(refused.to_string().contains("more than 24 bits"), "{refused}");
}

#[test]
fn texts_that_are_not_what_they_should_be_name_the_remedy() {
    let error = |from: &str, to: &str| {
        toml::from_str::<Config>(&GOOD.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert!(error("0x5f4eC3", "0x5F4eC3").contains("EIP-55 checksum"));
    assert!(error("0x88e6", "88e6").contains("40 hexadecimal digits"));
    assert!(error("http://127", "ftp://127").contains("http or https"));
    assert!(error("\"100000000\"", "\"1.5\"").contains("whole number"));
    assert!(error("heartbeat_s", "heartbeat").contains("heartbeat"));
    assert!(error("base = \"token1\"", "base = \"token2\"").contains("token2"));
}

#[test]
fn a_nodes_key_is_never_shown() {
    let config = parse(GOOD);
    let shown = format!("{config:?} {}", config.chain[0].rpc_urls[0]);
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains("http://127.0.0.1:8545"));
}

#[test]
fn a_token_has_a_calendar_once_and_one_that_is_known() {
    let token = r#"
[[token]]
chain = "anvil"
address = "0x0000000000000000000000000000000000000007"
calendar = "XNYS"
"#;
    let plan = |tables: &str| Plan::new(&parse(&format!("{GOOD}{tables}")));
    let code = |tables: &str| {
        let chains = plan(tables).unwrap().into_chains();
        chains[0]
            .calendars()
            .values()
            .map(|calendar| calendar.code().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(code(""), [""; 0]);
    assert_eq!(code(token), ["xnys"]);
    for (hours, expected) in
        [("regular", "xnys"), ("extended", "xnys_extended"), ("24x5", "xnys_24x5")]
    {
        assert_eq!(code(&format!("{token}hours = \"{hours}\"\n")), [expected]);
    }
    let twice = plan(&format!("{token}{token}"));
    assert!(matches!(twice, Err(ConfigError::TokenTwice { .. })), "{twice:?}");
    for (from, to, key) in
        [("XNYS", "XMOON", "calendar"), ("XNYS\"", "XNYS\"\nhours = \"always\"", "hours")]
    {
        let refused = plan(&token.replace(from, to)).unwrap_err();
        assert!(matches!(refused, ConfigError::Calendar { key: found, .. } if found == key));
        assert!(refused.to_string().contains("24x5"), "{refused}");
    }
    let elsewhere = plan(&token.replace("\"anvil\"", "\"moon\""));
    assert!(matches!(elsewhere, Err(ConfigError::UnknownChain { .. })));
}

#[test]
fn a_fact_is_a_call_of_a_name_that_nothing_else_has() {
    let fact = r#"
[[fact]]
chain = "anvil"
token = "0x0000000000000000000000000000000000000007"
name = "paused"
contract = "0x0000000000000000000000000000000000000009"
call = "0x5C975ABB"
"#;
    let plan = |tables: &str| Plan::new(&parse(&format!("{GOOD}{tables}")));
    let token = Address({
        let mut bytes = [0; 20];
        bytes[19] = 7;
        bytes
    });
    let chains = plan(fact).unwrap().into_chains();
    let found = &chains[0].facts()[&token];
    assert_eq!((found[0].name.as_str(), found[0].call.as_str()), ("paused", "0x5c975abb"));
    assert!(plan("").unwrap().chains()[0].facts().is_empty());
    let twice = plan(&format!("{fact}{fact}"));
    assert!(matches!(twice, Err(ConfigError::FactTwice { .. })), "{twice:?}");
    let long = format!("0x5c975abb{}", "00".repeat(129));
    for (from, to, said) in [
        ("\"paused\"", "\"Paused\"", "1 to 40 characters from a-z"),
        ("\"paused\"", "\"pool_key\"", "reserved for facts that exitgap records itself"),
        ("\"paused\"", "\"uniswap_v3\"", "reserved for facts that exitgap records itself"),
        ("\"paused\"", "\"token_taxed\"", "reserved for facts that exitgap records itself"),
        ("0x5C975ABB", "0x5c975a", "the selector's 4 bytes"),
        ("0x5C975ABB", "5c975abb00", "the selector's 4 bytes"),
        ("0x5C975ABB", "0x5c975abb0", "the selector's 4 bytes"),
        ("0x5C975ABB", "0x5c975abg", "the selector's 4 bytes"),
        ("0x5C975ABB", &long, "at most 4 words"),
    ] {
        let refused = plan(&fact.replace(from, to)).unwrap_err().to_string();
        assert!(refused.starts_with("fact of token 0x00") && refused.contains(said), "{refused}");
    }
    let elsewhere = plan(&fact.replace("\"anvil\"", "\"moon\""));
    assert!(matches!(elsewhere, Err(ConfigError::UnknownChain { .. })));
    let many = |most: usize| -> String {
        (0..most).map(|at| fact.replace("paused", &format!("paused_{at}"))).collect()
    };
    assert!(plan(&many(Config::MAX_FACTS_OF_TOKEN)).is_ok());
    let refused = plan(&many(Config::MAX_FACTS_OF_TOKEN + 1));
    assert!(matches!(refused, Err(ConfigError::TooMany { .. })), "{refused:?}");
    assert!(matches!(plan(&many(Config::MAX_FACTS + 1)), Err(ConfigError::TooMany { .. })));
}

#[test]
fn a_share_has_a_kind_a_calendar_and_facts_of_its_own() {
    let tables = r#"
[[token]]
chain = "anvil"
address = "0x0000000000000000000000000000000000000007"
calendar = "XNYS"

[[fact]]
chain = "anvil"
token = "0x0000000000000000000000000000000000000007"
name = "now"
contract = "0x0000000000000000000000000000000000000007"
call = "0x5c975abb"

[[fact]]
chain = "anvil"
token = "0x0000000000000000000000000000000000000007"
name = "later"
contract = "0x0000000000000000000000000000000000000007"
call = "0x5c975abc"

[[equity]]
chain = "anvil"
token = "0x0000000000000000000000000000000000000007"
kind = "scaled_ui"
feed_prices = "raw"
multiplier_fact = "now"
pending_multiplier_fact = "later"
effective_at_fact = "later"
"#;
    let plan = |tables: &str| Plan::new(&parse(&format!("{GOOD}{tables}")));
    let chains = plan(tables).unwrap().into_chains();
    let (_, found) = chains[0].equities().first_key_value().unwrap();
    assert_eq!((found.kind.code(), found.multiplier_decimals), ("scaled_ui", 18));
    assert_eq!(found.facts.multiplier.unwrap().as_str(), "now");
    assert_eq!(found.facts.paused, None);
    assert!(plan(&tables.replace("scaled_ui", "total_return")).is_ok());
    let rebasing = tables.replace("\"raw\"", "\"ui\"");
    for kind in ["rebasing", "split_rebase"] {
        assert!(plan(&rebasing.replace("scaled_ui", kind)).is_ok());
    }
    let equity = &tables[tables.find("[[equity]]").unwrap()..];
    for (from, to, said) in [
        (
            "scaled_ui",
            "gold",
            "kind is \"gold\"; write scaled_ui, total_return, rebasing or split_rebase",
        ),
        ("\"raw\"", "\"both\"", "feed_prices is \"both\"; write \"raw\" or \"ui\""),
        ("\"raw\"", "\"ui\"", "feed_prices is \"ui\"; pools of this kind trade the raw unit"),
        (
            "scaled_ui",
            "rebasing",
            "feed_prices is \"raw\"; balances of this kind count the ui unit",
        ),
        (
            "multiplier_fact = \"now\"\n",
            "multiplier_fact = \"then\"\n",
            "multiplier_fact is \"then\"; this token has no [[fact]]",
        ),
        (
            "\nmultiplier_fact = \"now\"",
            "",
            "multiplier_fact is \"\"; a scaled_ui token needs its multiplier",
        ),
        (
            "effective_at_fact = \"later\"\n",
            "",
            "pending_multiplier_fact is \"later\"; a pending multiplier",
        ),
        (
            "kind =",
            "multiplier_decimals = 37\nkind =",
            "multiplier_decimals is \"37\"; write 0 to 36",
        ),
        (equity, &equity.repeat(2), "it has two [[equity]] tables; remove one"),
    ] {
        assert!(tables.contains(from), "{from}");
        let refused = plan(&tables.replacen(from, to, 1)).unwrap_err().to_string();
        let named =
            refused.starts_with("equity of token 0x0000000000000000000000000000000000000007: ");
        assert!(named && refused.contains(said), "{refused}");
    }
    let begin = tables.find("[[fact]]").unwrap();
    let refused = plan(&tables[begin..]).unwrap_err().to_string();
    assert!(
        refused.contains("it has no calendar; add a [[token]] table with its address"),
        "{refused}"
    );
    let elsewhere = tables.replace("[[equity]]\nchain = \"anvil\"", "[[equity]]\nchain = \"moon\"");
    assert!(matches!(plan(&elsewhere), Err(ConfigError::UnknownChain { .. })));
}

#[test]
fn a_chain_of_arbitrums_software_says_where_numbers_are_heard_and_a_pruned_one_names_a_block() {
    let plan = Plan::new(&parse(GOOD)).unwrap();
    assert_eq!(plan.chains()[0].number_source(), NumberSource::BlockNumber);
    assert_eq!(plan.chains()[0].known_block(), None);
    let hash = "0x1111111111111111111111111111111111111111111111111111111111111111";
    let keys = format!(
        "chain_id = 31337\nnumber_source = \"arb_sys\"\nknown_block = {{ number = 7, hash = \"{hash}\" }}"
    );
    let plan = Plan::new(&parse(&GOOD.replace("chain_id = 31337", &keys))).unwrap();
    let chain = &plan.chains()[0];
    assert_eq!(chain.number_source(), NumberSource::ArbSys);
    assert_eq!(chain.with_pools(&[]).known_block(), chain.known_block());
    let known = chain.known_block().unwrap();
    assert_eq!((known.number, known.hash.to_string()), (7, hash.to_owned()));
    // Known chains are as they are known.
    let arbitrum = GOOD.replace("chain_id = 31337", "chain_id = 42161");
    let parsed = Plan::new(&parse(&arbitrum.replace(
        "\"fixed\"\nanswer = \"100000000\"\ndecimals = 8",
        "\"chainlink\"\nfeed = \"0x5f4ec3df9cbd43714fe2740f5e3616155c5b8418\"\nheartbeat_s = 3600",
    )));
    assert_eq!(parsed.unwrap().chains()[0].number_source(), NumberSource::ArbSys);
    assert!(
        toml::from_str::<Config>(&GOOD.replace("31337", "31337\nnumber_source = \"l1\"")).is_err()
    );
}
