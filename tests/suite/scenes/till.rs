//! A service with priced estimates, with a recorded series and a chain with the token.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use alloy::primitives::{B256, U256};
use exitgap_api::x402::{self, Authorization, Offer, Offers, Settlement, Units};
use exitgap_core::ids::Word;
use exitgap_tests::binaries;
use exitgap_tests::demo::{PaidTo, payments_config};
use exitgap_tests::devchain::Authorized;
use exitgap_tests::devchain::PrivateKeySigner;
use exitgap_tests::devchain::abi::TransferWithAuthorization;

use crate::scenes::service::{Answer, Recorded, Service, recorded};
use crate::scenes::store::store_in;
use crate::scenes::usdc::{CHAIN_ID, PRICE, Scene, own};

/// A size that the scene's pools can fill.
pub const SIZE: &str = "1000";

pub struct Till {
    pub scene: Scene,
    pub recorded: Recorded,
    pub pool: String,
}

impl Till {
    /// A chain that mines on demand, and a configured service that is not running.
    pub async fn new() -> Self {
        let scene = Scene::new().await;
        let url = scene.chain.url();
        Self::behind(scene, &url).await
    }

    /// The same with the node at another address.
    pub async fn behind(scene: Scene, url: &str) -> Self {
        Self::of(scene, url, recorded(1).await)
    }

    /// The same with this series.
    pub fn of(scene: Scene, url: &str, recorded: Recorded) -> Self {
        let path = recorded.path("exitgap.toml");
        let mut config = fs::read_to_string(&path).unwrap();
        write!(
            config,
            "\n[[chain]]\nslug = \"pay\"\nchain_id = {CHAIN_ID}\nrpc_urls = [\"{url}\"]\n"
        )
        .unwrap();
        config.push_str(&payments_config(&PaidTo {
            chain: "pay",
            asset: scene.usdc.address,
            pay_to: scene.pay_to,
            hot_key_file: &scene.key_file,
        }));
        let database = store_in(recorded.folder.path(), "payments.db");
        writeln!(config, "database = \"{}\"", database.display()).unwrap();
        fs::write(path, config).unwrap();
        let key = ["key", "receipts", "--out", "payments-receipt.key"];
        let mut made = Command::new(binaries::path("exitgap-server"));
        let made = made.args(key).current_dir(recorded.folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let pool = recorded.pool(0);
        Self { scene, recorded, pool }
    }

    /// The path of the payment database.
    pub fn database(&self) -> PathBuf {
        store_in(self.recorded.folder.path(), "payments.db")
    }

    /// Starts another process of the same service.
    pub fn serve(&self) -> Service {
        self.serve_with(&[])
    }

    /// The same with these environment variables.
    pub fn serve_with(&self, variables: &[(&str, &str)]) -> Service {
        Service::start(self.recorded.folder.path(), &["--no-record"], variables)
    }

    pub fn target(&self) -> String {
        format!("/v1/exit/{}?size_usd={SIZE}", self.pool)
    }

    /// From now on, every transaction is mined immediately.
    pub async fn mine_at_once(&self) {
        let _: serde_json::Value = self.scene.chain.rpc("evm_setAutomine", (true,)).await.unwrap();
    }

    /// From now on, a block is mined every second.
    pub async fn mine_on(&self) {
        let _: serde_json::Value =
            self.scene.chain.rpc("evm_setIntervalMining", (1,)).await.unwrap();
    }

    /// Waits until the service's transaction is in the node's pool.
    pub async fn until_sent(&self) {
        for _ in 0..200 {
            let pool: serde_json::Value = self.scene.chain.rpc("txpool_status", ()).await.unwrap();
            if pool["pending"] != "0x0" {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("nothing was sent");
    }

    /// Drops all pending transactions.
    pub async fn drop_sent(&self) {
        let _: serde_json::Value =
            self.scene.chain.rpc("anvil_dropAllTransactions", ()).await.unwrap();
    }

    pub fn header(&self, service: &Service, nonce: u8) -> (&'static str, String) {
        let offers = offers_of(&service.get(&self.target()));
        header_of(offers.v2[0].as_ref().unwrap(), &self.scene.authorized(nonce))
    }

    pub fn header_v1(&self, service: &Service, nonce: u8) -> (&'static str, String) {
        let offers = offers_of(&service.get(&self.target()));
        header_of(offers.v1[0].as_ref().unwrap(), &self.scene.authorized(nonce))
    }

    /// Requests the scene's size with a payment.
    pub fn pay(&self, service: &Service, header: &(&'static str, String)) -> Answer {
        service.ask("GET", &self.target(), &[(header.0, &header.1)])
    }

    /// A version 2 payment whose message was changed before signing.
    pub fn changed(
        &self,
        service: &Service,
        signer: &PrivateKeySigner,
        change: impl Fn(&mut TransferWithAuthorization),
    ) -> (&'static str, String) {
        let mut message = self.scene.message(9);
        change(&mut message);
        let offers = offers_of(&service.get(&self.target()));
        let authorized = self.scene.usdc.authorize(signer, message);
        header_of(offers.v2[0].as_ref().unwrap(), &authorized)
    }

    /// The payee's income, as a multiple of the price.
    pub async fn prices_paid(&self) -> u64 {
        let paid = self.scene.paid().await;
        assert_eq!(paid % PRICE, 0, "{paid}");
        paid / PRICE
    }
}

/// The offers in a 402 answer.
#[track_caller]
pub fn offers_of(answer: &Answer) -> Offers {
    let said = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, 402, "{said}");
    Offers::from_response(|name| answer.header(name), &answer.body).unwrap()
}

/// A payment as a header.
pub fn header_of(offer: &Offer, authorized: &Authorized) -> (&'static str, String) {
    let message = &authorized.message;
    let seconds = |instant: U256| u64::try_from(instant).unwrap();
    let authorization = Authorization {
        from: own(message.from),
        to: own(message.to),
        value: Units(message.value.to()),
        valid_after_s: seconds(message.validAfter),
        valid_before_s: seconds(message.validBefore),
        nonce: Word(message.nonce.0),
    };
    authorization.to_header(offer, &authorized.signature)
}

/// The settlement of an x402 payment, as the answer reports it.
#[track_caller]
pub fn settlement_of(answer: &Answer) -> Settlement {
    let header = [x402::PAYMENT_RESPONSE, x402::X_PAYMENT_RESPONSE];
    let said = header.into_iter().find_map(|name| answer.header(name));
    let body = String::from_utf8_lossy(&answer.body);
    Settlement::of_header(said.unwrap_or_else(|| panic!("{} {body}", answer.status))).unwrap()
}

/// The settling transaction that the answer names.
pub fn transaction_of(answer: &Answer) -> B256 {
    settlement_of(answer).transaction.parse().unwrap()
}
