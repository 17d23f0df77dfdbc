// Canonical JSON (RFC 8785), cut down to what the format page allows: objects, arrays,
// strings, booleans, null and integers below 2^53 in size.

import { MAX_FIELDS, Refusal, require, version1 } from './shape.mjs';

/** In how many others a value may lie. */
const MAX_DEPTH = 127;
const MAX_VALUES = 2 ** 20;

/** How many values there are in a value, itself included. */
function count(value) {
  if (value === null || typeof value !== 'object') return 1;
  return Object.values(value).reduce((sum, part) => sum + count(part), 1);
}

/** The one canonical spelling of `value`. */
export function write(value, depth = 0) {
  if (depth > MAX_DEPTH) throw new Refusal('nested too deeply');
  if (Array.isArray(value)) {
    return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  }
  switch (value === null ? 'null' : typeof value) {
    case 'null':
    case 'boolean':
      return String(value);
    case 'number':
      if (!Number.isSafeInteger(value)) throw new Refusal('a number that is no integer below 2^53');
      return String(value);
    case 'string':
      // A lone surrogate has no UTF-8, yet JSON can spell it as an escape.
      if (!value.isWellFormed()) throw new Refusal('a string that is not Unicode');
      return JSON.stringify(value);
    default: {
      // Array.sort compares UTF-16 code units, which is the order RFC 8785 asks for.
      const keys = Object.keys(value).sort();
      if (keys.length > MAX_FIELDS) throw new Refusal('too many fields');
      return `{${keys.map((key) => `${write(key)}:${write(value[key], depth + 1)}`).join(',')}}`;
    }
  }
}

/** The bytes a part of a file is hashed as. */
export function bytesOf(value) {
  return Buffer.from(write(value), 'utf8');
}

/** The bytes of a part that is a document of version 1, of at most so many. */
export function documentBytes(value, maxLength) {
  const bytes = bytesOf(value);
  require(bytes.length <= maxLength, `more than ${maxLength} bytes`);
  version1(value);
  return bytes;
}

/**
 * Reads a document that is canonical byte for byte. Comparing with the canonical spelling is what
 * refuses white space, other key orders, repeated keys (JSON.parse keeps one of them) and other
 * spellings of numbers and strings, `-0` and integers of 2^53 and more included.
 */
export function parse(bytes, maxLength) {
  if (bytes.length > maxLength) throw new Refusal(`more than ${maxLength} bytes`);
  let value;
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal(`not JSON: ${error.message}`);
  }
  if (write(value) !== text) throw new Refusal('not canonical');
  if (count(value) > MAX_VALUES) throw new Refusal('too many values');
  return value;
}
