//! `exitgap-server init` with a node: its file passes `check`, and every rejection names its reason.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use exitgap_chain::config::BaseToken;
use exitgap_server::config::CheckedConfig;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::scenes::operator::server;

const KEY: [&str; 6] = ["key", "new", "--out", "exitgap.key", "--name", "example.org/exits"];

/// The address of a pool of the scene.
fn pool(world: &World, index: usize) -> String {
    format!("{:#x}", world.pools[index].pool.address)
}

/// The feeds of these pools' tokens, as arguments of `--feed`.
fn feeds(world: &World, pools: &[usize]) -> Vec<String> {
    let mut feeds = Vec::new();
    for index in pools {
        let pool = world.pools[*index].pool;
        for token in [pool.token0, pool.token1] {
            let asset = world.asset(token).unwrap();
            let (symbol, feed) = (&asset.token.symbol, asset.feed.proxy);
            feeds.push(format!("{symbol}={feed:#x}@{}", asset.heartbeat));
        }
    }
    feeds.sort();
    feeds.dedup();
    feeds
}

/// Runs `init` for a chain of this name; returns the exit code and the output.
fn init(folder: &Path, chain: &[&str], pools: &[&str], feeds: &[&str]) -> (Option<i32>, String) {
    let mut arguments = vec!["init", "--chain"];
    arguments.extend(chain);
    arguments.extend(pools.iter().flat_map(|pool| ["--pool", pool]));
    arguments.extend(feeds.iter().flat_map(|feed| ["--feed", feed]));
    let (code, out, err) = server(folder, &arguments);
    assert_eq!(out, "");
    (code, err)
}

/// The exit code, the arguments for chain, pools and feeds, and the message.
type Refused<'a> = (i32, &'a [&'a str], &'a [&'a str], &'a [&'a str], &'a str);

/// A scene with fresh prices.
async fn fresh() -> (DevChain, World) {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 4).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    (chain, world)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_init_writes_of_named_pools_passes_the_check() {
    let (chain, world) = fresh().await;
    let home = TempDir::new().unwrap();
    let folder = home.path();
    let url = chain.url();
    let of_chain = ["anvil", "--chain-id", "31337", "--rpc", &url];
    let chosen = [0, World::FIRST_V2];
    let (named, prices) = (chosen.map(|index| pool(&world, index)), feeds(&world, &chosen));
    let prices: Vec<&str> = prices.iter().map(String::as_str).collect();
    let (code, said) = init(folder, &of_chain, &named.each_ref().map(String::as_str), &prices);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("exitgap-server check --config exitgap.toml"), "{said}");

    // Only the key is missing, and `check` reports just that.
    let (code, out, _) = server(folder, &["check"]);
    assert_eq!((code, out.matches("error: ").count()), (Some(1), 1), "{out}");
    assert!(out.contains("error: key "), "{out}");
    assert_eq!(server(folder, &KEY).0, Some(0));
    let (code, out, err) = server(folder, &["check"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(out.matches("its contract pays exactly the computed amount").count(), 2, "{out}");

    // The dollar token is not the base token, and only the pair has a configured fee.
    let checked = CheckedConfig::from_file(&folder.join("exitgap.toml")).unwrap();
    for (index, configured) in chosen.into_iter().zip(&checked.config.pool) {
        let dollar_is_0 =
            world.asset(world.pools[index].pool.token0).unwrap().token.symbol == "USDC";
        let base = if dollar_is_0 { BaseToken::Token1 } else { BaseToken::Token0 };
        assert_eq!((configured.base, configured.fee.is_some()), (base, index == World::FIRST_V2));
    }

    // An existing file is not overwritten.
    let before = fs::read(folder.join("exitgap.toml")).unwrap();
    let (code, said) = init(folder, &of_chain, &[&named[0]], &prices);
    assert_eq!(code, Some(1));
    assert!(said.contains("exitgap.toml already exists and is not overwritten"), "{said}");
    assert_eq!(fs::read(folder.join("exitgap.toml")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_init_cannot_write_it_refuses_by_name_and_writes_nothing() {
    let (chain, world) = fresh().await;
    let home = TempDir::new().unwrap();
    let (deep, pair) = (pool(&world, 0), pool(&world, World::FIRST_V2));
    let url = chain.url();
    let url = url.as_str();
    let token = format!("{:#x}", world.pools[0].pool.token0);
    let prices = feeds(&world, &[0]);
    let all: Vec<&str> = prices.iter().map(String::as_str).collect();
    let of_token = |symbol: &str| format!("no price source is known for {symbol} (0x");
    let missing = prices[1].split('=').next().unwrap();
    let mine = ["anvil", "--chain-id", "31337", "--rpc", url];
    let nobody = ["anvil", "--chain-id", "31337", "--rpc", "http://127.0.0.1:1"];
    let wrong_sum = "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f564F";
    let id = format!("0x{}", "21".repeat(32));
    let none = "NONE=0x00000000000000000000000000000000000000aa@3600";
    let (tokens, one) = (format!("pool {token}: "), [all[0]]);
    let cases: &[Refused<'_>] = &[
        (
            1,
            &["polygon", "--rpc", url],
            &[&deep],
            &all,
            "chain polygon is unknown; known chains are ethereum",
        ),
        (
            1,
            &["base", "--chain-id", "1", "--rpc", url],
            &[&deep],
            &all,
            "base has the id 8453, not 1",
        ),
        (1, &["ethereum", "--rpc", url], &[&deep], &all, "31337"),
        (1, &nobody, &[&deep], &all, "127.0.0.1:1"),
        (1, &mine, &[&deep, &deep], &all, "is given twice"),
        (1, &mine, &[&deep, &token], &all, &tokens),
        (1, &mine, &[&format!("{deep}.0-1")], &all, "remove `pair`"),
        (1, &mine, &[&deep], &one, &of_token(missing)),
        (1, &mine, &[&deep], &[all[0], all[1], none], "--feed NONE=…: not a token of these pools"),
        (2, &mine, &["0x12"], &all, "\"0x12\" is not an address"),
        (2, &mine, &[wrong_sum], &all, "wrong EIP-55 checksum"),
        (2, &mine, &[&id], &all, "the id of a pool inside a pool manager"),
        (2, &mine, &[&format!("{pair}.02")], &all, "is not a valid pair"),
        (2, &mine, &[&deep], &["WETH"], "is not in the form WETH=0x…@3600"),
        (2, &mine, &[&deep], &["WETH=0x12@3600"], "is not an address"),
        (2, &mine, &[&deep], &[&all[0].replace('@', "@-")], "is not a valid heartbeat"),
        (2, &["anvil", "--rpc", "ftp://a"], &[&deep], &all, "http"),
        (2, &["anvil"], &[&deep], &all, "--rpc"),
    ];
    for (code, of_chain, pools, feeds, words) in cases {
        let (found, said) = init(home.path(), of_chain, pools, feeds);
        assert_eq!(found, Some(*code), "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(!home.path().join("exitgap.toml").exists(), "{words}");
    }
}

/// Uses a pseudoterminal that `script` creates.
#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_init_asks_for_what_was_not_named() {
    let (chain, world) = fresh().await;
    let home = TempDir::new().unwrap();
    let command = format!("{} init", binaries::path("exitgap-server").display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    script.current_dir(home.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let pool = world.pools[0].pool;
    let mut typed = vec!["anvil".into(), "31337".into(), chain.url(), String::new()];
    typed.extend(["0x12".to_owned(), format!("{:#x}", pool.address), String::new()]);
    // The questions about tokens are in the order of the token addresses.
    for token in [pool.token0, pool.token1] {
        let asset = world.asset(token).unwrap();
        typed.push(format!("{:#x}@{}", asset.feed.proxy, asset.heartbeat));
    }
    let mut input = child.stdin.take().unwrap();
    input.write_all((typed.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("\"0x12\" is not an address"), "{said}");
    assert!(said.contains("Chainlink USD feed of "), "{said}");
    assert_eq!(server(home.path(), &KEY).0, Some(0));
    let (code, out, err) = server(home.path(), &["check"]);
    assert_eq!(code, Some(0), "{out}{err}");
}
