//! Explains in plain words how the number is computed.

use exitgap_core::exit::METHOD_VERSION;
use leptos::prelude::*;

use crate::parts::{CollapsibleSection, RULES, render_collapsible};

/// The page.
#[component]
pub fn MethodPage() -> impl IntoView {
    let rules = RULES.map(|(_, kind, rule)| view! { <li><b>{kind}</b>". "{rule}</li> });
    view! {
        <h1>"How it works"</h1>
        <p class="lead">"One number, from recorded state, that anyone can recompute."</p>
        <h2>"Record"</h2>
        <p>
            "Every five minutes (a slot), the recorder reads the whole swap-relevant state of every monitored pool, and its oracle \
             prices, at one block and appends them to the record. A slot that could not be read stays missing permanently, with its \
             reason. All slots go into a signed log. Anyone who kept an earlier version of the log can see what was changed or left \
             out since."
        </p>
        <h2>"Compute"</h2>
        <p>"Method "{METHOD_VERSION}", exact integer arithmetic up to the last rounding:"</p>
        <ul>
            <li><code>"amount_in = ⌊size_usd ÷ oracle_price⌋"</code>", in raw units of the token sold"</li>
            <li><code>"amount_out"</code>" = what the pool's contract itself would pay, to the last unit"</li>
            <li><code>"realized_price = amount_out × quote_usd ÷ amount_in"</code></li>
            <li><code>"exit_gap_pct = 100 × (oracle − realized) ÷ oracle"</code>", six decimals; a positive gap is worse than the oracle"</li>
            <li><code>"1 − gap = (1 − basis) × (1 − fee) × (1 − impact)"</code>": the pool's mid price compared with the oracle price, the pool's fee, and price impact"</li>
        </ul>
        <p>
            <b>"Depth"</b>" at x% is the largest size whose gap is at most x%. The default is 2%. A size that the recorded \
             liquidity cannot fill has no gap and is never guessed. It is refused with the largest size that can be filled, \
             and the refusal has evidence like a gap."
        </p>
        <p id="fragility">
            <b>"Fragility"</b>" is the share of a pool's usual book that was missing at its lowest: 1 − lowest ÷ median over \
             seven days. It needs a day of recorded slots. A book is the depth at 2% from the pool's own price, so an oracle \
             that moves away has no effect on it. The depth from the oracle price falls then, although no liquidity was \
             withdrawn. Both are shown next to each other, with the largest lead of the oracle price over the pool's price."
        </p>
        <p>"The amount that a pool's contract pays is computed by the rules of its kind:"</p>
        {render_collapsible("kinds", "Rules of each kind of pool", true, view! { <ul id="rules">{rules}</ul> }.into_any())}
        <h2>"Check"</h2>
        <p>
            "A recorded gap links to its evidence: the snapshot, the pool's entry for the slot, and the proof that the signed \
             log contains it. This site fetches that file and verifies it in your browser, with the same code that the \
             server runs. \"Confirmed here\" appears only after your own browser confirmed it. Data from a newer version of \
             exitgap is shown as neither confirmed nor wrong, because this program is too old to check it."
        </p>
        <h2 id="elsewhere">"Verify with independent software"</h2>
        <p>
            "The checks on these pages run in code served by this same server, like the numbers. To avoid relying on it, get \
             the program and the log's key from another source:"
        </p>
        <ul>
            <li>"The command line, built from source: "<code>"exitgap verify evidence.json --trust <key>"</code>
                " verifies a file downloaded from its evidence page; "
                <code>"exitgap verify <pool> --size-usd 1000 --api <this server> --kept <folder>"</code>
                " fetches the file, and reports whether the slot was retracted later."</li>
            <li>"The npm package "<code>"exitgap"</code>": "<code>"verify(file, { keys })"</code>" in Node or on a page of your own."</li>
            <li>"The page "<code>"/verify"</code>" of another server that runs exitgap. Drop the file there and enter this log's key."</li>
        </ul>
        <h2>"What this does not prove"</h2>
        <ul>
            <li>"That the chain really had the recorded state. The evidence shows only what the operator signed, and an operator may have made it up. A state proof (see below) does prove it."</li>
            <li>"When a slot was sealed. \"Days observed\" counts slots. Only a checkpoint kept by a reader proves their age; this browser stores the last one it saw."</li>
            <li>"That the same server showed others the same history. Witnesses that you trust can confirm this; the evidence page checks their cosignatures."</li>
            <li>"That you will fill at this price. Others trade before you, and the pool changes after the slot. The gap does not include gas."</li>
            <li>"Exact results for tokens that take a fee on transfer or change balances."</li>
        </ul>
        <WhoCanLie/>
    }
}

/// Who could falsify each statement, without a state proof and with one.
#[component]
fn WhoCanLie() -> impl IntoView {
    view! {
        <CollapsibleSection id="who-can-lie" title="Whom you still have to trust">
        <p>
            "The evidence file shows what the operator signed. "<code>"exitgap verify evidence.json --rpc <your node>"</code>" compares it \
             with the chain's own state. It proves the storage words of the pool and of its oracles from the block's hash, and your node \
             reports whether the chain has that block. None of our keys is involved. The recorder does the same for every slot before it signs."
        </p>
        <ul>
            <li>
                <b>"A node that lies to the recorder"</b>
                ". With the evidence alone: the false state is signed. \
                 With a state proof and the block looked up: the false state is not recorded, because the recorder proves each state first where its node serves proofs."
            </li>
            <li>
                <b>"An operator who makes up a state"</b>
                ". With the evidence alone: not noticed. \
                 With a state proof and the block looked up: detected, because the block on your node has another state."
            </li>
            <li>
                <b>"An operator who uses an earlier block"</b>
                ". With the evidence alone: not noticed. \
                 With a state proof and the block looked up: detected, where the proof has the next block's header."
            </li>
            <li>
                <b>"An operator who rewrites the log"</b>
                ", shows you another log, or backdates it. With the evidence alone: detected by anyone who kept an earlier checkpoint. \
                 With witnesses that you trust: detected, because their cosignatures are missing."
            </li>
            <li>
                <b>"An operator who leaves a slot out"</b>
                ". With the evidence alone: the slot is shown as missing, and you trust the operator for the reason. \
                 With a state proof and the block looked up: the same."
            </li>
            <li>
                <b>"This server and its pages"</b>
                ". With the evidence alone: can lie, so get the program from another source. \
                 With a state proof and the block looked up: the same."
            </li>
            <li>
                <b>"The nodes that you asked"</b>
                ". With the evidence alone: not asked. \
                 With a state proof and the block looked up: all of them together can lie. \
                 On the command line you choose how many of which sources must agree: nodes, other operators, a newer block whose hash you trust."
            </li>
        </ul>
        <p>
            "No storage proof covers the following, so you still take them on trust: which feeds price the tokens and how many decimals they \
             have, fees computed by code, what the contracts' code does, and whether the oracle is right. Pools with an unknown storage \
             layout (Curve, Balancer, Algebra) are not proven, and their checks report that."
        </p>
        </CollapsibleSection>
    }
}
