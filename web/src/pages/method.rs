//! How the number is made, in plain words.

use exitgap_core::exit::METHOD_VERSION;
use leptos::prelude::*;

use crate::parts::{Folded, RULES, folded};

/// The page.
#[component]
pub fn MethodPage() -> impl IntoView {
    let rules = RULES.map(|(_, kind, rule)| view! { <li><b>{kind}</b>". "{rule}</li> });
    view! {
        <h1>"How it works"</h1>
        <p class="lead">"One number, from recorded state, that anyone can recompute."</p>
        <h2>"Record"</h2>
        <p>
            "Every five minutes the whole swap-relevant state of every monitored pool, and the oracle answers beside it, \
             are read at one block and written down, append-only. A slot that could not be read is missing, with its \
             reason, for ever. All slots go into a signed log: whoever kept an earlier state of it sees what was changed or left out since."
        </p>
        <h2>"Compute"</h2>
        <p>"Method "{METHOD_VERSION}", exact integer arithmetic up to the last rounding:"</p>
        <ul>
            <li><code>"amount_in = ⌊size_usd ÷ oracle_price⌋"</code>", in raw units of the token sold"</li>
            <li><code>"amount_out"</code>" = what the pool's contract itself would pay, to the last unit"</li>
            <li><code>"realized_price = amount_out × quote_usd ÷ amount_in"</code></li>
            <li><code>"exit_gap_pct = 100 × (oracle − realized) ÷ oracle"</code>", six decimals; positive: worse than the oracle"</li>
            <li><code>"1 − gap = (1 − basis) × (1 − fee) × (1 − impact)"</code>": the pool's mid price against the oracle, its fee, and what moving the price costs"</li>
        </ul>
        <p>
            <b>"Depth"</b>" at x % is the largest size whose gap is at most x; where nothing is said, x is 2. A size that \
             the recorded liquidity cannot fill has no gap: it is refused with the most that can be filled, never guessed, \
             and that has evidence like a gap."
        </p>
        <p id="fragility">
            <b>"Fragility"</b>" is the share of a pool's usual depth that was gone when it was lowest: 1 − lowest ÷ median depth \
             at 2 % of seven days. A pool needs a day of recorded slots to have one. Depth is from the oracle price; where \
             only the oracle moved away, the depth from the pool's own price stays, and no liquidity was taken."
        </p>
        <p>"What a pool's contract pays is computed by the rules of its kind:"</p>
        {folded("kinds", "The rules of each kind", true, view! { <ul id="rules">{rules}</ul> }.into_any())}
        <h2>"Check"</h2>
        <p>
            "A recorded gap links to its evidence: the snapshot, the pool's entry for the slot, the proof that the signed \
             log holds it. This site fetches that file and verifies it in your browser, with the same code that the \
             server runs. \"Confirmed here\" appears only after your own browser confirmed it. What a newer version of \
             exitgap made is shown as neither confirmed nor wrong: this program is too old to check it."
        </p>
        <h2 id="elsewhere">"Check with a program from elsewhere"</h2>
        <p>
            "The program that confirms on these pages came from this server, like the numbers. Whoever does not want to \
             rely on that takes one from elsewhere, and the log's key from a place that is not this server either:"
        </p>
        <ul>
            <li>"The command line, built from its source: "<code>"exitgap verify evidence.json --trust <key>"</code>
                " of a file that its evidence page hands out; "
                <code>"exitgap verify <pool> --size-usd 1000 --api <this server> --kept <folder>"</code>
                " fetches it, and says what became of the slot later."</li>
            <li>"The npm package "<code>"exitgap"</code>": "<code>"verify(file, { keys })"</code>" in Node or on a page of your own."</li>
            <li>"The page "<code>"/verify"</code>" of another server that runs exitgap: drop the file there, with this log's key."</li>
        </ul>
        <h2>"What this does not prove"</h2>
        <ul>
            <li>"That the chain really was in the recorded state. A state proof does, see below: what only says what was signed, an operator may have made up."</li>
            <li>"When a slot was sealed: days observed counts slots. Only a checkpoint that somebody kept proves their age; this browser keeps the last it saw."</li>
            <li>"That the same server showed others the same history. Witnesses that you trust say so: the evidence page checks their cosignatures."</li>
            <li>"That you will fill at this price: others trade before you, and the pool moves on after the slot. Gas is not in the gap."</li>
            <li>"Tokens that take a fee on transfer or change balances are not exact."</li>
        </ul>
        <WhoCanLie/>
    }
}

/// Whose word each statement is, without a state proof and with one.
#[component]
fn WhoCanLie() -> impl IntoView {
    view! {
        <Folded id="who-can-lie" title="Who can still lie about what">
        <p>
            "The evidence file says what the operator signed. "<code>"exitgap verify evidence.json --rpc <your node>"</code>" holds it \
             against the chain's own state: the pool's words and its oracles' are proven down from the block's hash, and your node \
             says whether the chain has that block. No key of ours counts in it. The recorder does the same of every slot before it signs."
        </p>
        <ul>
            <li>
                <b>"A node that lies to the recorder"</b>
                ". With the evidence alone: is signed. \
                 With a state proof, and the block looked up: is not recorded: the recorder proves first, where its node serves proofs."
            </li>
            <li>
                <b>"An operator who makes up a state"</b>
                ". With the evidence alone: is not noticed. \
                 With a state proof, and the block looked up: is shown: the block your node has holds another state."
            </li>
            <li>
                <b>"An operator who takes an earlier block"</b>
                ". With the evidence alone: is not noticed. \
                 With a state proof, and the block looked up: is shown, where the proof has the next block's header."
            </li>
            <li>
                <b>"An operator who rewrites the log"</b>
                ", or shows you another one, or dates it back. With the evidence alone: is shown to whoever kept an earlier checkpoint. \
                 With witnesses that you trust: has no cosignatures of theirs."
            </li>
            <li>
                <b>"An operator who leaves a slot out"</b>
                ". With the evidence alone: is shown as missing; why, is the operator's word. \
                 With a state proof, and the block looked up: likewise."
            </li>
            <li>
                <b>"This server, with its pages"</b>
                ". With the evidence alone: can: take the program from elsewhere. \
                 With a state proof, and the block looked up: likewise."
            </li>
            <li>
                <b>"The nodes that you asked"</b>
                ". With the evidence alone: are not asked. \
                 With a state proof, and the block looked up: all of them together can. \
                 On the command line you say how many of which sources must agree: nodes, other operators, a newer block whose hash you trust."
            </li>
        </ul>
        <p>
            "What no proof of storage says, and stays somebody's word: which feeds price the tokens and how many decimals they have, \
             fees that are code, what the contracts' code does, whether the oracle is right. Pools whose words are in no known order \
             (Curve, Balancer, Algebra) are not proven, and a check of them says so."
        </p>
        </Folded>
    }
}
