// The small readers every document is made of. Each refuses what the format page does not allow.

/** Something read is not what it must be: the check it belongs to fails. */
export class Refusal extends Error {}

/** A check has nothing to judge, because what it builds on is missing or was refused. */
export class NotChecked extends Error {}

export function require(condition, reason) {
  if (!condition) throw new Refusal(reason);
}

/** 2026-08-22T00:00:00Z; no slot before it is a slot. */
const FIRST_SLOT = 5957856;
const SECONDS_PER_SLOT = 300;

/** An object with exactly the `required` keys, and any of the `optional` ones. */
export function fields(value, required, optional = []) {
  require(value !== null && typeof value === 'object' && !Array.isArray(value), 'not an object');
  for (const key of required) require(Object.hasOwn(value, key), `without ${key}`);
  for (const key of Object.keys(value)) {
    require(required.includes(key) || optional.includes(key), `unknown field ${key}`);
  }
  return value;
}

export function list(value, maxLength, length = undefined) {
  require(Array.isArray(value) && value.length <= maxLength, `not a list of up to ${maxLength}`);
  require(length === undefined || value.length === length, `not ${length} items`);
  return value;
}

export function text(value, pattern, what) {
  require(typeof value === 'string' && pattern.test(value), `not ${what}`);
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

/** As `raw`, with a sign. Zero has one spelling, without. */
export function signedRaw(value) {
  return BigInt(text(value, /^(0|-?[1-9][0-9]{0,77})$/, 'a signed raw integer'));
}

export function slot(value) {
  return integer(value, FIRST_SLOT, Math.floor(Number.MAX_SAFE_INTEGER / SECONDS_PER_SLOT));
}

/** The instant of a slot, in seconds UTC. */
export function instant(ofSlot) {
  return ofSlot * SECONDS_PER_SLOT;
}

export function version1(value) {
  require(value === 1, 'not version 1');
}

export function address(value) {
  return text(value, /^0x[0-9a-f]{40}$/, 'an address');
}

export function poolId(value) {
  return text(value, /^[a-z][a-z0-9-]{0,31}:0x[0-9a-f]{40}$/, 'a pool id');
}

/** The rules' name. Which of them were released is for the check that applies them. */
export function methodVersion(value) {
  return text(value, /^[!-~]{1,20}$/, 'a method version');
}

/** Printable ASCII, 1 to `most` characters. */
export function label(value, most) {
  return text(value, new RegExp(`^[ -~]{1,${most}}$`), 'a label');
}

export function hexHash(value) {
  text(value, /^0x[0-9a-f]{64}$/, 'a hex hash');
  return Buffer.from(value.slice(2), 'hex');
}

/** Standard base64 with padding, in the one spelling of its bytes. */
export function base64(value) {
  require(typeof value === 'string', 'not base64');
  const bytes = Buffer.from(value, 'base64');
  require(bytes.toString('base64') === value, 'not base64 in its one spelling');
  return bytes;
}

export function base64Hash(value) {
  const bytes = base64(value);
  require(bytes.length === 32, 'not 32 bytes');
  return bytes;
}
