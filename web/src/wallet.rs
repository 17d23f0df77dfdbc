//! Asks the reader's own wallet for a block (EIP-1193). Its answer is independent of this service.

use exitgap_core::ids::{BlockHash, Caip2};
use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Why a wallet gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalletError {
    /// There is no wallet in this browser.
    None,
    /// It is connected to another chain: its id, in hexadecimal.
    OtherChain(String),
    /// It rejected the request, with its own message.
    Refused(String),
}

/// The hash of the block with this number according to the wallet; `None` if it has no such block.
pub async fn block_hash(chain: Caip2, number: u64) -> Result<Option<BlockHash>, WalletError> {
    let own = request("eth_chainId", &Array::new()).await?;
    let own = own.as_string().unwrap_or_default();
    let id = own.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if id != Some(chain.0) {
        return Err(WalletError::OtherChain(own));
    }
    let params = Array::of2(&format!("{number:#x}").into(), &false.into());
    let block = request("eth_getBlockByNumber", &params).await?;
    if block.is_null() || block.is_undefined() {
        return Ok(None);
    }
    let hash = Reflect::get(&block, &"hash".into()).ok().and_then(|hash| hash.as_string());
    let hash = hash.and_then(|hash| hash.parse().ok());
    hash.map(Some).ok_or_else(|| WalletError::Refused("its block has no hash".to_owned()))
}

async fn request(method: &str, params: &Array) -> Result<JsValue, WalletError> {
    let wallet = Reflect::get(&js_sys::global(), &"ethereum".into()).unwrap_or_default();
    let asked = Reflect::get(&wallet, &"request".into()).ok();
    let asked = asked.and_then(|asked| asked.dyn_into::<Function>().ok());
    let asked = asked.ok_or(WalletError::None)?;
    let question = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&question, &name.into(), value);
    let (_, _) = (set("method", &method.into()), set("params", params));
    let answer = asked.call1(&wallet, &question).map_err(|error| to_wallet_error(&error))?;
    JsFuture::from(Promise::resolve(&answer)).await.map_err(|error| to_wallet_error(&error))
}

/// A wallet's own message, truncated, because it can be anything.
fn to_wallet_error(error: &JsValue) -> WalletError {
    let message = Reflect::get(error, &"message".into()).ok();
    let message = message.and_then(|message| message.as_string());
    let message = message.or_else(|| error.as_string()).unwrap_or_default();
    WalletError::Refused(message.chars().take(200).collect())
}
