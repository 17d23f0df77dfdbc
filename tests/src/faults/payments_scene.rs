//! The setting of payments: a recorded pool with priced estimates, the processes that answer for it, and a chain with
//! Circle's own token.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::devchain::PrivateKeySigner;
use alloy::primitives::{Address, B256, U256, keccak256};
use exitgap_api::x402::{Authorization, Offer, Units};
use exitgap_core::ids::{Address as Own, Word};
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store};
use tempfile::TempDir;

use super::{Result, memory_folder};
use crate::binaries;
use crate::demo::recorder_config;
use crate::devchain::abi::TransferWithAuthorization;
use crate::devchain::{DevChain, FIRST_SLOT, Market, Options, Usdc, World};

/// Base Sepolia's id: signatures for it are worthless elsewhere.
pub const CHAIN: u64 = 84_532;

/// The price of an estimate, in units.
pub const PRICE: u64 = 10_000;

/// Number of payers.
const PAYERS: u64 = 32;

/// A recorded series, and a chain that mines a block every second.
pub struct Scene {
    /// The payment chain.
    pub chain: DevChain,
    /// Its token.
    pub usdc: Usdc,
    /// The payee.
    pub pay_to: Address,
    /// The payers.
    pub payers: Vec<PrivateKeySigner>,
    /// The requested pool.
    pub pool: String,
    folder: TempDir,
}

impl Scene {
    /// Records a slot of a temporary chain, and prepares the payment chain.
    pub async fn new() -> Result<Self> {
        let folder = memory_folder()?;
        let pool = record(folder.path()).await?;
        let options =
            Options { genesis_timestamp: now_s() - 600, chain_id: CHAIN, ..Options::default() };
        let chain = DevChain::start(options).await?;
        let usdc = Usdc::deploy(&chain, CHAIN).await?;
        let key = |n: u64| PrivateKeySigner::from_bytes(&keccak256(n.to_be_bytes()));
        let payers: Vec<_> = (0..PAYERS).map(key).collect::<std::result::Result<_, _>>()?;
        let funds: Vec<_> = payers
            .iter()
            .map(|payer| usdc.fund(&chain, payer.address(), 100_000 * PRICE))
            .collect();
        chain.mine(now_s(), &funds).await?;
        let hot = [0x22; 32];
        let coin = U256::from(10).pow(U256::from(20));
        chain.set_balance(PrivateKeySigner::from_slice(&hot)?.address(), coin).await?;
        let key_file = folder.path().join("hot-key");
        fs::write(&key_file, format!("0x{}\n", "22".repeat(32)))?;
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600))?;
        make_key(folder.path(), &["receipts", "--out", "payments-receipt.key"])?;
        let _: serde_json::Value = chain.rpc("evm_setIntervalMining", (1,)).await?;
        let pay_to = Address::repeat_byte(0x77);
        Ok(Self { chain, usdc, pay_to, payers, pool, folder })
    }

    /// The folder of keys, store and payments.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The database shared by the processes.
    pub fn payments(&self) -> PathBuf {
        self.folder().join("payments.db")
    }

    /// A payment of the price by one of the payers, as its header.
    pub fn pay(
        &self,
        offer: &Offer,
        payer: usize,
        nonce: B256,
        valid_s: u64,
    ) -> (&'static str, String) {
        let payer = &self.payers[payer % self.payers.len()];
        let message = TransferWithAuthorization {
            from: payer.address(),
            to: self.pay_to,
            value: U256::from(PRICE),
            validAfter: U256::ZERO,
            validBefore: U256::from(now_s() + valid_s),
            nonce,
        };
        let authorization = Authorization {
            from: Own(message.from.into_array()),
            to: Own(message.to.into_array()),
            value: Units(PRICE.into()),
            valid_after_s: 0,
            valid_before_s: message.validBefore.to(),
            nonce: Word(nonce.0),
        };
        let authorized = self.usdc.authorize(payer, message);
        authorization.to_header(offer, &authorized.signature)
    }

    /// The configuration of a free service.
    pub fn free(&self) -> PathBuf {
        self.folder().join("exitgap.toml")
    }

    /// Writes the configuration of a service with its node at this URL; returns the file.
    pub fn configure(&self, name: &str, node: &str) -> Result<PathBuf> {
        let mut config = fs::read_to_string(self.folder().join("exitgap.toml"))?;
        write!(
            config,
            "\n[[chain]]\nslug = \"pay\"\nchain_id = {CHAIN}\nrpc_urls = [\"{node}\"]\n\n\
             [payments]\nenabled = true\nprice_usdc = \"0.01\"\nchain = \"pay\"\npay_to = \"{:#x}\"\n\
             asset = \"{:#x}\"\nhot_key_file = \"hot-key\"\nmax_fee_gwei = 100\n",
            self.pay_to, self.usdc.address
        )?;
        let path = self.folder().join(name);
        fs::write(&path, config)?;
        Ok(path)
    }
}

/// Records one slot of the development chain's pools in a folder; returns a pool's id.
async fn record(folder: &Path) -> Result<String> {
    let chain = DevChain::start(Options::default()).await?;
    let world = World::deploy(&chain).await?;
    let config = folder.join("exitgap.toml");
    fs::write(&config, recorder_config(&chain, &world))?;
    make_key(folder, &["new", "--out", "exitgap.key", "--name", "example.org/exits"])?;
    let checked = CheckedConfig::from_file(&config)?;
    let key = fs::read_to_string(&checked.config.evidence.key_file)?;
    let store = Store::create(&checked.config.store.path, &key.trim_end().parse()?)?;
    let sources = Source::of_plan(&checked.plan, &exitgap_chain::Limits::default());
    let mut recorder = Recorder::new(store, sources, Duration::from_mins(1));
    let mut market = Market::new(&chain, &world, 4).await?;
    market.play_slot(FIRST_SLOT).await?;
    recorder.record_slot(Slot::new(FIRST_SLOT)?).await?;
    recorder.publish_in(LogFolder::new(&checked.config.evidence.folder))?;
    Ok(format!("anvil:{:#x}", world.pools[0].pool.address))
}

fn make_key(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut made = Command::new(binaries::path("exitgap-server"));
    let made = made.arg("key").args(arguments).current_dir(folder).output()?;
    if made.status.success() { Ok(()) } else { Err("no key was made".into()) }
}

/// A process that keeps the same address when restarted.
#[derive(Clone)]
pub struct Process {
    /// Its address.
    pub address: SocketAddr,
    words: Vec<String>,
    child: Arc<Mutex<Option<Child>>>,
}

impl Process {
    /// A service with this configuration.
    pub fn service(config: &Path) -> Result<Self> {
        let program = binaries::path("exitgap-server").display().to_string();
        let config = config.display().to_string();
        Self::start(&[&program, "serve", "--no-record", "--config", &config])
    }

    /// A program with these arguments, and its listen address.
    pub fn start(words: &[&str]) -> Result<Self> {
        // No one else takes the port in between, because the system assigns other ports first.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let listen = address.to_string();
        let words = [words, &["--listen", &listen]].concat();
        let words = words.into_iter().map(str::to_owned).collect();
        let process = Self { address, words, child: Arc::default() };
        process.begin()?;
        Ok(process)
    }

    /// Restarts it.
    pub fn begin(&self) -> Result<()> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        command.env("EXITGAP_HTTP_RATE_PER_MINUTE", "0");
        command.env("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "0");
        command.env("EXITGAP_LOG_LEVEL", "error").stderr(Stdio::null());
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(command.spawn()?);
        Ok(())
    }

    /// Kills it (`kill -9`), and waits for its end; returns whether it was alive.
    pub fn kill(&self) -> bool {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        child.is_some_and(|mut child| {
            let lived = matches!(child.try_wait(), Ok(None));
            lived && child.kill().is_ok() && child.wait().is_ok()
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // This is the last handle.
        if Arc::strong_count(&self.child) == 1 {
            self.kill();
        }
    }
}

/// Unix seconds.
pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
