// The small readers every document is made of. Each refuses what the format page does not allow.

/** Something read is not what it must be: the check it belongs to fails. */
export class Refusal extends Error {
  constructor(reason, ofCode = undefined) {
    super(reason);
    this.code = ofCode;
  }
}

/** A check has nothing to judge, because what it builds on is missing or was refused. */
export class NotChecked extends Error {}

/** Well formed, but newer than this verifier: it cannot tell whether it is true. */
export class Newer extends Error {
  constructor(kind, name) {
    super(`${name}: made by a newer version; update to check it`);
    this.code = `unsupported_${kind}`;
  }
}

/** Refuses what is not as it must be; with a code where the page states one. */
export function require(condition, reason, ofCode = undefined) {
  if (!condition) throw new Refusal(reason, ofCode);
}

/** 2026-08-22T00:00:00Z; no slot before it is a slot. */
const FIRST_SLOT = 5957856;
/** 9999-12-31T23:55:00Z. */
const LAST_SLOT = 844674335;
const SECONDS_PER_SLOT = 300;

export const U32_MAX = 2 ** 32 - 1;
export const U64_MAX = 2n ** 64n - 1n;
/** The most fields of any object. */
export const MAX_FIELDS = 64;

function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** An object with the `required` keys, whatever else it has. */
export function open(value, required) {
  require(isObject(value), 'not an object');
  require(Object.keys(value).length <= MAX_FIELDS, 'too many fields');
  for (const key of required) require(Object.hasOwn(value, key), `without ${key}`);
  return value;
}

/** An object with exactly the `required` keys, and any of the `optional` ones. */
export function fields(value, required, optional = []) {
  open(value, required);
  for (const key of Object.keys(value)) {
    require(required.includes(key) || optional.includes(key), `unknown field ${key}`);
  }
  return value;
}

export function list(value, maxLength = Infinity, length = undefined) {
  require(Array.isArray(value) && value.length <= maxLength, `not a list of up to ${maxLength}`);
  require(length === undefined || value.length === length, `not ${length} items`);
  return value;
}

export function string(value) {
  require(typeof value === 'string', 'not a string');
  return value;
}

export function text(value, pattern, what) {
  require(pattern.test(string(value)), `not ${what}`);
  return value;
}

export function boolean(value) {
  require(typeof value === 'boolean', 'not a boolean');
  return value;
}

export function integer(value, least = 0, most = Number.MAX_SAFE_INTEGER) {
  require(Number.isSafeInteger(value) && value >= least && value <= most,
    `not an integer from ${least} to ${most}`);
  return value;
}

/** A raw integer: decimal digits in a string, as a BigInt. */
export function raw(value, least, most) {
  // Bounds the work of reading a number before its size is known: 2^256 has 78 digits.
  const digits = text(value, /^(0|[1-9][0-9]{0,77})$/, 'a raw integer');
  const number = BigInt(digits);
  require(number >= least && number <= most, `not from ${least} to ${most}`);
  return number;
}

/** As `raw`, with a sign, in 128 bits. Zero has one spelling, without. */
export function signedRaw(value) {
  const number = BigInt(text(value, /^(0|-?[1-9][0-9]{0,38})$/, 'a signed raw integer'));
  require(BigInt.asIntN(128, number) === number, 'more than 128 bits');
  return number;
}

export function slot(value) {
  return integer(value, FIRST_SLOT, LAST_SLOT);
}

/** The instant of a slot, in seconds UTC. */
export function instant(ofSlot) {
  return ofSlot * SECONDS_PER_SLOT;
}

/** Requires a document of version 1. A later one is newer, anything else is none. */
export function version1(document) {
  require(isObject(document) && Object.hasOwn(document, 'v'), 'a document without version');
  if (integer(document.v, 1, U32_MAX) > 1) throw new Newer('version', `version ${document.v}`);
}

/** A short word: what a later version adds is told by words this one does not know. */
export function code(value) {
  return text(value, /^[a-z][a-z0-9_]{0,39}$/, 'a code');
}

export function address(value) {
  return text(value, /^0x[0-9a-f]{40}$/, 'an address');
}

const CONTRACT = '[a-z][a-z0-9-]{0,31}:0x(?:[0-9a-f]{40}|[0-9a-f]{64})';

/** What holds a pool: an address, or an id that a manager gave it. */
export function contract(value) {
  return text(value, new RegExp(`^${CONTRACT}$`), 'a contract');
}

/** A pool's name: its contract, and which two of the tokens where there are more. */
export function poolId(value) {
  const parts = new RegExp(`^(${CONTRACT})(?:\\.([0-7])-([0-7]))?$`).exec(string(value));
  require(parts !== null, 'not a pool id');
  const [, held, lower, higher] = parts;
  require(lower === undefined || lower < higher, 'not a pair of tokens');
  return { name: value, contract: held, pair: lower && [Number(lower), Number(higher)] };
}

/** The rules' name. Which of them were released is for the check that applies them. */
export function methodVersion(value) {
  return text(value, /^[!-~]{1,20}$/, 'a method version');
}

/** Printable ASCII, 1 to `most` characters. */
export function label(value, most) {
  return text(value, new RegExp(`^[ -~]{1,${most}}$`), 'a label');
}

/** 32 bytes as `0x` and hex digits, as they stand. */
export function hexHash(value) {
  return text(value, /^0x[0-9a-f]{64}$/, 'a hex hash');
}

/** Standard base64 with padding, in the one spelling of its bytes. */
export function base64(value) {
  const bytes = Buffer.from(string(value), 'base64');
  require(bytes.toString('base64') === value, 'not base64 in its one spelling');
  return bytes;
}

export function base64Hash(value) {
  const bytes = base64(value);
  require(bytes.length === 32, 'not 32 bytes');
  return bytes;
}
