//! Reads a chain's latest block, or its newest slot, for one answer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use exitgap_api::{Direct, Problem, ProblemCode, Provenance};
use exitgap_chain::config::{
    BaseToken, ChainConfig, Config, FeeConfig, KnownChain, LogsCheck, OracleConfig, Plan,
    PoolConfig, RpcUrl,
};
use exitgap_chain::{ChainReader, Limits, ReadFailure, readers};
use exitgap_core::U256;
use exitgap_core::ids::{Address, ChainSlug, Pair, PoolId};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::SnapshotDocuments;
use serde::Deserialize;
use tokio::time::Instant;

use super::{FoundPool, unreadable};
use crate::arguments::SourceArgs;
use crate::failure::Failure;

/// Time limit for a chain's nodes, including retries.
const DEADLINE: Duration = Duration::from_mins(1);

/// The default heartbeat of a feed given on the command line.
const DEFAULT_HEARTBEAT_S: u32 = 3_600;

/// Tables of the recorder's configuration that do not affect reading.
const RECORDER_TABLES: [&str; 16] = [
    "store",
    "recorder",
    "evidence",
    "bucket",
    "http",
    "serve",
    "log",
    "payments",
    "alerts",
    "proofs",
    "witness",
    "observer",
    "peer",
    "quote_group",
    "redemption",
    "shock",
];

/// Reads the pool at the chain's latest block.
pub fn find(source: &SourceArgs, pool: &PoolId) -> Result<FoundPool, Failure> {
    let plan = plan(source, pool)?;
    // Only a configuration file defines which token the pool sells by default.
    let default_base = of_file(source).and_then(|_| Some(plan.pool(pool)?.base));
    let read = async |reader: &mut ChainReader, deadline| reader.read_latest(pool, deadline).await;
    let observation = read_with(plan, pool, "at the latest block", read)?;
    let provenance = Provenance::Direct(Direct::LatestBlock);
    Ok(FoundPool {
        observation,
        provenance,
        default_base,
        lowest_depth_7d_usd: [None, None],
        weeks: Default::default(),
        published: None,
        documents: None,
    })
}

/// Reads the pool's snapshot at the chain's newest slot like a recorder, as canonical documents.
pub fn newest_snapshot(source: &SourceArgs, pool: &PoolId) -> Result<SnapshotDocuments, Failure> {
    let read = async |reader: &mut ChainReader, deadline| {
        let slot = reader.newest_slot(deadline).await?;
        let reading = reader.read_slot(slot, deadline).await.pools.into_iter();
        let unread =
            || Err(ReadFailure { reason: MissingReason::DeadlineExceeded, detail: String::new() });
        reading.into_iter().next().map_or_else(unread, |(_, snapshot)| snapshot)
    };
    let snapshot = read_with(plan(source, pool)?, pool, "at the newest slot", read)?;
    let bytes = snapshot.to_canonical();
    Ok(bytes.map_err(|error| unreadable(format!("the snapshot of {pool}: {error}")))?)
}

/// What to read, from a configuration file or from the arguments.
fn plan(source: &SourceArgs, pool: &PoolId) -> Result<Plan, Failure> {
    let urls = source.rpc.iter().map(|url| parse_url(url)).collect::<Result<Vec<_>, _>>()?;
    let config = match of_file(source) {
        Some(path) => from_file(path, pool, urls)?,
        None => from_arguments(source, pool, urls)?,
    };
    Ok(Plan::new(&config).map_err(|error| invalid("config", error.to_string()))?)
}

/// Everything that the recorder's configuration describes.
pub fn plan_of_file(path: &Path) -> Result<Plan, Failure> {
    let config = all_of_file(path)?;
    Ok(Plan::new(&config).map_err(|error| invalid("config", error.to_string()))?)
}

/// The nodes of a pool's chain, for a caller that reads no state.
pub fn plan_of_chain(
    urls: &[String],
    chain_id: Option<u64>,
    pool: &PoolId,
) -> Result<Plan, Failure> {
    let urls = urls.iter().map(|url| parse_url(url)).collect::<Result<Vec<_>, _>>()?;
    let config = Config { chain: vec![chain(pool.chain(), chain_id, urls)?], ..Config::default() };
    Ok(Plan::new(&config).map_err(|error| invalid("rpc", error.to_string()))?)
}

/// A chain described only by its id.
fn chain(
    slug: &ChainSlug,
    chain_id: Option<u64>,
    rpc_urls: Vec<RpcUrl>,
) -> Result<ChainConfig, Problem> {
    let chain_id = chain_id.or_else(|| well_known(slug)).ok_or_else(|| {
        invalid("chain_id", format!("the id of chain {slug} is unknown"))
            .hint("give --chain-id, or describe the chain in a file and give --config")
    })?;
    Ok(ChainConfig {
        slug: slug.clone(),
        chain_id,
        rpc_urls,
        genesis_hash: None,
        known_block: None,
        number_source: None,
        check_logs_by: LogsCheck::Auto,
        second_rpc_url: None,
        sequencer_uptime_feed: None,
        sequencer_grace_s: None,
        multicall3: None,
        confirmations: None,
        factory: Vec::new(),
    })
}

/// The configuration file that describes the pool. Command-line options take precedence, also if `EXITGAP_CONFIG` is
/// set.
fn of_file(source: &SourceArgs) -> Option<&Path> {
    let named =
        [&source.token0_usd, &source.token1_usd, &source.fee].into_iter().any(Option::is_some)
            || source.chain_id.is_some();
    source.config.as_deref().filter(|_| !named)
}

/// Reads with the reader of the pool's chain; `what` names the purpose in errors.
fn read_with<T>(
    plan: Plan,
    pool: &PoolId,
    what: &str,
    read: impl AsyncFnOnce(&mut ChainReader, Instant) -> Result<T, ReadFailure>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut readers =
        readers(plan, &Limits::for_one_answer()).map_err(|error| unreadable(error.to_string()))?;
    let Some(reader) = readers.get_mut(pool.chain()) else {
        return Err(invalid("pool", format!("chain {} is not configured", pool.chain())).into());
    };
    let found = runtime.block_on(async { read(reader, Instant::now() + DEADLINE).await });
    Ok(found.map_err(|missing| chain_problem(pool, what, &missing))?)
}

fn chain_problem(pool: &PoolId, what: &str, missing: &ReadFailure) -> Problem {
    let hint = match missing.reason {
        MissingReason::PoolUnsupported => {
            "exitgap reads Uniswap v2 pairs, v3 and v4 pools, and forks with the same fill rules"
        }
        MissingReason::StateInconsistent => {
            "the pool's balances give no price: the pool may be empty, or the node's answer wrong"
        }
        MissingReason::ChainLagging | MissingReason::ChainStalled => {
            "the chain has no recent enough block; use a node that is in sync"
        }
        MissingReason::WrongChain => "use a node of this pool's chain",
        MissingReason::RpcRateLimited => "wait a little, or add another node",
        MissingReason::OracleInvalid => "check the oracles given for token0 and token1",
        MissingReason::CallReverted => {
            "check that the pool and the feeds are contracts on this chain"
        }
        _ => "check that the node answers; --rpc may be given several times",
    };
    let detail = format!("reading {pool} {what}: {}", missing.detail);
    let problem = Problem::new(ProblemCode::ChainUnreadable, detail);
    problem.reason(missing.reason.code()).hint(hint)
}

/// The parts of the recorder's configuration that affect reading.
fn all_of_file(path: &Path) -> Result<Config, Problem> {
    let name = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| unreadable(format!("reading {name}: {error}")))?;
    let wrong =
        |error: toml::de::Error| unreadable(format!("{name}: {}", toml_problem(&text, &error)));
    let mut tables: toml::Table = toml::from_str(&text).map_err(wrong)?;
    for table in RECORDER_TABLES {
        tables.remove(table);
    }
    Config::deserialize(tables).map_err(wrong)
}

/// The part of the recorder's configuration that describes this pool, with other nodes.
fn from_file(path: &Path, pool: &PoolId, urls: Vec<RpcUrl>) -> Result<Config, Problem> {
    let name = path.display();
    let mut config = all_of_file(path)?;
    config.pool.retain(|entry| entry.address.on(entry.chain.clone()) == *pool);
    config.chain.retain(|chain| chain.slug == *pool.chain());
    config.oracle.retain(|oracle| oracle.chain() == pool.chain());
    config.token.retain(|token| token.chain == *pool.chain());
    config.fact.retain(|fact| fact.chain == *pool.chain());
    config.equity.retain(|equity| equity.chain == *pool.chain());
    let (Some(chain), false) = (config.chain.first_mut(), config.pool.is_empty()) else {
        let problem =
            Problem::new(ProblemCode::UnknownPool, format!("{name} does not configure {pool}"));
        return Err(problem.field("pool").hint("add a [[pool]] table, or give the oracles"));
    };
    chain.rpc_urls = urls;
    Ok(config)
}

/// Describes where a file is wrong without showing the line, which may contain a node's key.
fn toml_problem(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    if error.message().contains("://") {
        return format!("line {line}: unexpected URL; rpc_urls is a list");
    }
    format!("line {line}: {}", error.message().replace('\n', " "))
}

/// A configuration of one pool, from arguments alone.
fn from_arguments(
    source: &SourceArgs,
    pool: &PoolId,
    rpc_urls: Vec<RpcUrl>,
) -> Result<Config, Problem> {
    let slug = pool.chain().clone();
    let chain = chain(&slug, source.chain_id, rpc_urls)?;
    let mut oracle = Vec::new();
    let token0_usd = oracles("token0_usd", source.token0_usd.as_deref(), &slug, &mut oracle)?;
    let token1_usd = oracles("token1_usd", source.token1_usd.as_deref(), &slug, &mut oracle)?;
    let fee = source.fee.as_deref().map(parse_fee).transpose()?;
    let base = BaseToken::Token0;
    let address = pool.contract().address();
    let address = address.ok_or_else(|| {
        let detail = format!("{pool} is inside a pool manager: its id is the hash of a key");
        invalid("pool", detail).hint("configure the pool with its key in a file and give --config")
    })?;
    let address = address.into();
    let pair = pool.pair().map(Pair::bytes);
    let key = None;
    let pool = PoolConfig { chain: slug, address, pair, key, base, fee, token0_usd, token1_usd };
    Ok(Config {
        chain: vec![chain],
        oracle,
        pool: vec![pool],
        token: Vec::new(),
        fact: Vec::new(),
        equity: Vec::new(),
    })
}

fn well_known(slug: &ChainSlug) -> Option<u64> {
    let chain_id = match slug.as_str() {
        "ethereum" => 1,
        "optimism" => 10,
        "base" => 8_453,
        "arbitrum" => 42_161,
        _ => return None,
    };
    KnownChain::of_id(chain_id).map(|chain| chain.chain_id)
}

/// Parses `chainlink:<feed>[@<heartbeat>]` or `fixed:<price>`, or two of them joined by `*`; adds them to `all` and
/// returns their names.
fn oracles(
    field: &'static str,
    text: Option<&str>,
    chain: &ChainSlug,
    all: &mut Vec<OracleConfig>,
) -> Result<Vec<String>, Problem> {
    let hint = "write chainlink:0x… or fixed:1.25, or give --config FILE";
    let text = text.ok_or_else(|| {
        invalid(field, format!("no USD price given for {}", &field[..6])).hint(hint)
    })?;
    let mut names = Vec::new();
    for (index, part) in text.split('*').enumerate() {
        let name = format!("{field}-{index}");
        let wrong = |why: String| invalid(field, format!("{part:?}: {why}")).hint(hint);
        let oracle = match part.trim().split_once(':') {
            Some(("chainlink", feed)) => chainlink(name.clone(), chain, feed).map_err(wrong)?,
            Some(("fixed", price)) => fixed_oracle(name.clone(), chain, price).map_err(wrong)?,
            _ => return Err(wrong("must start with chainlink: or fixed:".to_owned())),
        };
        all.push(oracle);
        names.push(name);
    }
    Ok(names)
}

fn chainlink(name: String, chain: &ChainSlug, text: &str) -> Result<OracleConfig, String> {
    let (feed, heartbeat) = text.split_once('@').map_or((text, None), |(f, h)| (f, Some(h)));
    let feed: Address = feed
        .to_ascii_lowercase()
        .parse()
        .map_err(|error: exitgap_core::ids::IdError| error.to_string())?;
    let heartbeat_s = match heartbeat {
        None => DEFAULT_HEARTBEAT_S,
        Some(text) => text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?,
    };
    let heartbeat_grace_s = Config::HEARTBEAT_GRACE_S;
    Ok(OracleConfig::Chainlink { name, chain: chain.clone(), feed, heartbeat_s, heartbeat_grace_s })
}

fn fixed_oracle(name: String, chain: &ChainSlug, price: &str) -> Result<OracleConfig, String> {
    let decimals = price.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let decimals = u8::try_from(decimals)
        .ok()
        .filter(|decimals| *decimals <= 18)
        .ok_or("too many decimals")?;
    let scaled = exitgap_core::units::parse_scaled(price, decimals.into(), false)
        .map_err(|error| error.to_string())?;
    let answer = U256::from(scaled.unsigned_abs());
    Ok(OracleConfig::Fixed { name, chain: chain.clone(), answer, decimals })
}

fn parse_fee(text: &str) -> Result<FeeConfig, Problem> {
    let parsed = text.split_once('/').and_then(|(numerator, denominator)| {
        Some(FeeConfig {
            numerator: numerator.parse().ok()?,
            denominator: denominator.parse().ok()?,
        })
    });
    parsed.ok_or_else(|| {
        invalid("fee", format!("{text:?} is not a fraction")).hint("Uniswap v2's is 3/1000")
    })
}

pub fn parse_url(text: &str) -> Result<RpcUrl, Problem> {
    text.parse().map_err(|error: exitgap_chain::config::UrlError| invalid("rpc", error.to_string()))
}

fn invalid(field: &str, detail: String) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, detail).field(field)
}
