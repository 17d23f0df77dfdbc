// Evidence files by their form: whatever is wrong here fails the check of the format.

import { parse } from './canonical.mjs';
import { readPoolProof } from './leaf.mjs';
import { boolean, fields, integer, poolId, require, string, text, version1 } from './shape.mjs';

const MAX_BYTES = 4.5 * 1024 * 1024;

const orNull = (read) => (value) => (value === null ? null : read(value));

const RESULT = {
  amount_in_raw: string,
  amount_out_raw: string,
  basis_pct: string,
  days_observed: string,
  exit_gap_pct: string,
  fee_pct: string,
  impact_pct: string,
  lowest_depth_7d_usd: orNull(string),
  marginal_price_usd: string,
  market_open: boolean,
  mid_price_usd: string,
  oracle_price_usd: string,
  oracle_stale: boolean,
  realized_price_usd: string,
  session_note: string,
  status: string,
};

const REFUSAL = {
  amount_in_raw: orNull(string),
  code: string,
  consumed_raw: string,
  max_fillable_usd: orNull(string),
  paid_raw: string,
};

function requireTyped(value, types) {
  fields(value, Object.keys(types));
  for (const [name, read] of Object.entries(types)) read(value[name]);
}

/** What the request asks for. Whether there is such a size, and such rules, is not its form's. */
function readRequest(value) {
  const request = fields(value, ['base', 'method_version', 'pool', 'size_usd', 'slot']);
  text(request.base, /^token[01]$/, 'a token');
  string(request.method_version);
  string(request.size_usd);
  return { ...request, pool: poolId(request.pool), slot: integer(request.slot) };
}

/** The answer: `{result}` or `{refusal}`. */
function readAnswer({ result, refusal }) {
  require((result === undefined) !== (refusal === undefined), 'not one of result and refusal');
  if (result !== undefined) requireTyped(result, RESULT);
  else requireTyped(refusal, REFUSAL);
  return { result, refusal };
}

/** A file's parts. Its documents are read by the checks that judge them. */
export function readFile(bytes) {
  const value = parse(bytes, MAX_BYTES);
  version1(value);
  const file = fields(value, ['v', 'request', 'snapshot', 'state', 'head', 'leaf', 'pool_proof',
    'log_proof'], ['result', 'refusal']);
  string(file.log_proof);
  return {
    ...file,
    request: readRequest(file.request),
    answer: readAnswer(file),
    poolProof: readPoolProof(file.pool_proof),
  };
}
