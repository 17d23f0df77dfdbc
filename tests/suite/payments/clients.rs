//! The official clients, unmodified, against the real service. They are npm packages, in a folder that a
//! variable names: `npm i x402-fetch@1.2.0 @x402/fetch@2.27.0 @x402/evm@2.27.0 viem@2.57.20`.

use std::path::PathBuf;
use std::process::Command;

use crate::scenes::till::Till;

/// The variable that names the folder with the clients' `node_modules`.
const FOLDER: &str = "EXITGAP_X402_CLIENTS";

const V1: &str = "
import {wrapFetchWithPayment, createSigner, decodeXPaymentResponse} from 'x402-fetch';
const signer = await createSigner('base-sepolia', '0x' + '11'.repeat(32));
const r = await wrapFetchWithPayment(fetch, signer)(process.env.URL);
const p = decodeXPaymentResponse(r.headers.get('x-payment-response'));
console.log(JSON.stringify({status: r.status, success: p.success, body: await r.json()}));
process.exit(0);
";

const V2: &str = "
import {wrapFetchWithPayment, x402Client, decodePaymentResponseHeader} from '@x402/fetch';
import {registerExactEvmScheme} from '@x402/evm/exact/client';
import {privateKeyToAccount} from 'viem/accounts';
const client = new x402Client();
registerExactEvmScheme(client, {signer: privateKeyToAccount('0x' + '11'.repeat(32))});
const r = await wrapFetchWithPayment(fetch, client)(process.env.URL);
const p = decodePaymentResponseHeader(r.headers.get('payment-response'));
console.log(JSON.stringify({status: r.status, success: p.success, body: await r.json()}));
process.exit(0);
";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the clients: set EXITGAP_X402_CLIENTS to a folder where they are installed"]
async fn the_official_clients_pay_and_are_answered() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("EXITGAP_X402_CLIENTS names it"));
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let url = format!("http://{}{}", service.address, till.target());
    for (paid, (name, script)) in
        [("exitgap-v1.mjs", V1), ("exitgap-v2.mjs", V2)].iter().enumerate()
    {
        std::fs::write(folder.join(name), script).unwrap();
        let ran =
            Command::new("node").arg(name).current_dir(&folder).env("URL", &url).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        let failed = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name}: {said} {failed}");
        let answer: serde_json::Value = serde_json::from_str(said.trim()).expect(&said);
        assert_eq!(
            (answer["status"].as_u64(), answer["success"].as_bool()),
            (Some(200), Some(true))
        );
        assert!(answer["body"]["exit_gap_pct"].is_number(), "{answer}");
        assert_eq!(till.prices_paid().await, paid as u64 + 1);
    }
}
