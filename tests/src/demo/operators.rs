//! A second operator, who records the same pools with a separate node, key and folder: each cosigns the other's log,
//! and the second follows the first's log and compares it.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command as Plain;
use std::time::Duration;

use exitgap_core::tlog::{CosignatureStatus, Note, WitnessKey};
use tokio::process::{Child, Command};

use super::play::Day;
use super::recorder_config::recorder_config;
use super::serve::{free_address, wait_until_ready};
use super::show::finish;
use super::venues::venues_config;
use super::{Demo, run, step};
use crate::devchain::{DevChain, Market, Venues, World};

/// The size that a reader verifies, in USD.
const SIZE_USD: &str = "50000";

/// Time limit for both to seal and cosign a slot.
const SEALED_WITHIN: Duration = Duration::from_secs(90);

/// The exit code of `exitgap verify` without a trusted key of the log.
const INCOMPLETE: i32 = 7;

/// The second operator, prepared.
pub struct Second {
    /// Its configuration.
    pub config: PathBuf,
    /// The address that it will listen on.
    pub address: String,
    /// The folder in which its log is published.
    log: PathBuf,
    /// The key with which it confirms that its own node returned the same data as the first operator's log contains.
    observer: WitnessKey,
}

/// Creates the second operator's configuration and keys, and adds two lines to each configuration, with which the
/// operators cosign each other's log. `first` is the first operator's address.
pub fn prepare(
    demo: &Demo,
    chain: &DevChain,
    (world, venues): (&World, &Venues),
    day: &Day,
    first: &str,
) -> Result<Second, Box<dyn Error>> {
    step("a second operator, who records the same pools: each is to cosign the other's log");
    let folder = demo.folder.join("second");
    fs::create_dir(&folder)?;
    let address = free_address(first)?;
    let config = folder.join("exitgap.toml");
    fs::write(&config, recorder_config(chain, world) + &venues_config(venues, world))?;
    run(
        &demo.server,
        &["key", "new", "--name", "second.example/exits", "--out"],
        &folder.join("exitgap.key"),
    )?;
    let cosigner = |file: PathBuf, name: &str| -> Result<String, Box<dyn Error>> {
        let mut command = Plain::new(&demo.server);
        command.args(["key", "witness", "--name", name, "--out"]).arg(file);
        let output = command.output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let first_witness = cosigner(demo.folder.join("witness.key"), "demo.example/witness")?;
    let second_witness = cosigner(folder.join("witness.key"), "second.example/witness")?;
    let observer = cosigner(folder.join("observer.key"), "second.example/observer")?;
    let first_log = fs::read_to_string(day.log.join("verifier-key"))?;
    let second_log = public_key(&folder.join("exitgap.key"))?;
    witnessing(&day.config, &second_witness, &address, &second_log)?;
    witnessing(&config, &first_witness, first, first_log.trim())?;
    following(&config, first, first_log.trim())?;
    let policy = format!(
        "witness first {first_witness}\nwitness second {second_witness}\ngroup any-of-them any first second\n\
         quorum any-of-them\n"
    );
    fs::write(demo.folder.join("witnesses"), policy)?;
    let log = folder.join("exitgap-log");
    Ok(Second { config, address, log, observer: observer.parse()? })
}

/// Appends the two lines of the `[witness]` table to the configuration, and prints them.
fn witnessing(
    config: &Path,
    witness: &str,
    address: &str,
    log: &str,
) -> Result<(), Box<dyn Error>> {
    appended(
        config,
        &format!(
            "\n[witness]\nasks = [\"{witness} http://{address}/witness\"]\nlogs = [\"{log}\"]\n"
        ),
    )
}

/// The second operator's peer, and the key with which it confirms that its own node returned the same.
fn following(config: &Path, address: &str, log: &str) -> Result<(), Box<dyn Error>> {
    appended(
        config,
        &format!(
            "\n[[peer]]\nlog = \"http://{address}/log\"\nkey = \"{log}\"\n\n\
             [observer]\nkey_file = \"observer.key\"\n"
        ),
    )
}

fn appended(config: &Path, lines: &str) -> Result<(), Box<dyn Error>> {
    eprintln!("   into {}:", config.display());
    lines.trim().lines().for_each(|line| eprintln!("     {line}"));
    let mut file = fs::OpenOptions::new().append(true).open(config)?;
    Ok(file.write_all(lines.as_bytes())?)
}

/// The public part of a log's key, as printed by `key new`.
fn public_key(path: &Path) -> Result<String, Box<dyn Error>> {
    let key: exitgap_core::tlog::SignerKey = fs::read_to_string(path)?.trim_end().parse()?;
    Ok(key.verifier().to_string())
}

/// Starts an operator's service in this demonstration.
pub fn serving(demo: &Demo, config: &Path, address: &str, more: &[&str]) -> std::io::Result<Child> {
    let mut serve = Command::new(&demo.server);
    serve.args(["serve", "--listen", address, "--config"]).arg(config).args(more);
    serve.kill_on_drop(true).spawn()
}

/// Records one more slot with both, and then verifies it as a reader who trusts neither key.
pub async fn confirm(
    demo: &Demo,
    chain: &DevChain,
    market: &mut Market<'_>,
    (world, venues): (&World, &Venues),
    day: &Day,
) -> Result<(), Box<dyn Error>> {
    let first = free_address("")?;
    let second = prepare(demo, chain, (world, venues), day, &first)?;
    let next = u64::from(day.slot.number()) + 1;
    market.play_slot(next).await?;
    step(
        "both record one more slot, and each shows its checkpoint to the other before it is published",
    );
    let at = next.to_string();
    let rehearse = ["--rehearse-at", at.as_str()];
    let mut other = serving(demo, &second.config, &second.address, &rehearse)?;
    wait_until_ready(&mut other, &second.address).await?;
    let mut service = serving(demo, &day.config, &first, &rehearse)?;
    wait_until_ready(&mut service, &first).await?;
    let pool = format!("anvil:{:#x}", world.pools[0].pool.address);
    let evidence = evidence_of(&first, &pool, next).await?;
    fs::write(demo.folder.join("witnessed.json"), evidence)?;

    step("a reader who trusts no key of the operator's: a node of their own, and whoever cosigned");
    let url = chain.url();
    let words = ["verify", "witnessed.json", "--witnesses", "witnesses", "--rpc", &url];
    println!("\n$ exitgap {}", words.join(" "));
    let mut verify = Plain::new(&demo.cli);
    let output = verify.args(words).current_dir(&demo.folder).output()?;
    std::io::stdout().write_all(&output.stdout)?;
    std::io::stderr().write_all(&output.stderr)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let confirmed = ["Confirmed by the chain", "recorded before", "cosigned by second"];
    if output.status.code() != Some(INCOMPLETE) || !confirmed.iter().all(|what| said.contains(what))
    {
        return Err(format!(
            "the number was not confirmed by chain and witness: {}",
            output.status
        )
        .into());
    }
    observed(&second, next).await?;
    drop((service, other));
    step("what both operators recorded, slot by slot");
    println!("\n$ exitgap compare exitgap-log second/exitgap-log --trust <key> --trust <key>");
    let mut compare = Plain::new(&demo.cli);
    compare.arg("compare").arg(&day.log).arg(&second.log);
    for log in [&day.log, &second.log] {
        compare.arg("--trust").arg(log.join("verifier-key"));
    }
    finish(&mut compare)
}

/// What the second operator published about the first's log, once it has compared the slot.
async fn observed(second: &Second, slot: u64) -> Result<(), Box<dyn Error>> {
    step("the second operator follows the first's log, and cosigns what its own node gave, too");
    let looking = async {
        loop {
            for peer in fs::read_dir(second.log.join("peers")).into_iter().flatten() {
                let folder = peer?.path();
                if let Ok(note) = fs::read_to_string(folder.join("checkpoint")) {
                    return Ok::<_, Box<dyn Error>>((folder, note));
                }
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let (folder, note) = tokio::time::timeout(SEALED_WITHIN, looking).await??;
    println!("\n$ cat second/exitgap-log/peers/<the first's>/checkpoint\n{note}");
    if folder.join(format!("{slot}.json")).exists() {
        return Err("the second operator found a difference that is not there".into());
    }
    match second.observer.judge(&Note::parse(&note)?) {
        CosignatureStatus::At(_) => Ok(()),
        other => {
            Err(format!("the second operator did not observe the first's slot: {other:?}").into())
        }
    }
}

/// The evidence of the pool's slot, once it is sealed.
async fn evidence_of(address: &str, pool: &str, slot: u64) -> Result<String, Box<dyn Error>> {
    let target = format!("http://{address}/api/v1/exit/{pool}?size_usd={SIZE_USD}&slot={slot}");
    let asking = async {
        loop {
            let answer = reqwest::get(&target).await?;
            if answer.status().is_success() {
                return answer.text().await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    Ok(tokio::time::timeout(SEALED_WITHIN, asking).await??)
}
