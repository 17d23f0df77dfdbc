// The JavaScript peer: quotes with the pool of @uniswap/v3-sdk, timed in here.
//
// Reads one JSON document per line: first the pool, then batches {amounts, repeats}. Answers each
// batch with {nanoseconds, outputs}, and the pool, once it is ready, with {}.

const { createInterface } = require("node:readline");
const { CurrencyAmount, Token } = require("@uniswap/sdk-core");
const { Pool } = require("@uniswap/v3-sdk");

const token = (digit, symbol) => new Token(1, "0x" + digit.repeat(40), 18, symbol);
const tokens = [token("1", "T0"), token("2", "T1")];

async function main() {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const read = async () => {
    const { value, done } = await lines.next();
    return done ? null : JSON.parse(value);
  };
  const answer = (document) => process.stdout.write(JSON.stringify(document) + "\n");

  const state = await read();
  const ticks = state.ticks.map(([index, liquidityNet]) => ({
    index,
    liquidityNet,
    liquidityGross: "1",
  }));
  const { fee_pips, sqrt_price_x96, liquidity, tick } = state;
  const pool = new Pool(...tokens, fee_pips, sqrt_price_x96, liquidity, tick, ticks);
  answer({});

  for (let batch = await read(); batch !== null; batch = await read()) {
    const inputs = batch.amounts.map((raw) => CurrencyAmount.fromRawAmount(tokens[0], raw));
    let outputs;
    const start = process.hrtime.bigint();
    for (let i = 0; i < batch.repeats; i++) {
      outputs = [];
      for (const input of inputs) {
        outputs.push((await pool.getOutputAmount(input))[0]);
      }
    }
    const nanoseconds = Number(process.hrtime.bigint() - start);
    answer({ nanoseconds, outputs: outputs.map((output) => output.quotient.toString()) });
  }
}

main();
