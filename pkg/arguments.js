// Checks the caller's arguments before any byte is copied into the module's memory, which grows and never shrinks.

import { ExitgapError } from './error.js';

// The original getters: an object may define its own properties with these names.
const array = Object.getPrototypeOf(Uint8Array.prototype);
const real = (name) => Object.getOwnPropertyDescriptor(array, name).get;
const [bufferOf, offsetOf, lengthOf, tagOf] =
  ['buffer', 'byteOffset', 'byteLength', Symbol.toStringTag].map(real);

export function wrong(field, why, hint) {
  return new ExitgapError('invalid_parameter', `${field}: ${why}`, { field, hint });
}

function tooLong(field, most) {
  return wrong(field, `larger than the maximum of ${most} bytes`);
}

const { toString } = Object.prototype;

/** Bytes, or text as its UTF-8: at most `most`. */
export function bytes(value, field, most) {
  if (typeof value === 'string') {
    if (value.length > most) throw tooLong(field, most);
    value = new TextEncoder().encode(value);
  } else if (ArrayBuffer.isView(value) && tagOf.call(value) === 'Uint8Array') {
    value = new Uint8Array(bufferOf.call(value), offsetOf.call(value), lengthOf.call(value));
  } else if (toString.call(value) === '[object ArrayBuffer]') {
    value = new Uint8Array(value);
  } else {
    const hint = 'pass the document as served, as bytes or text, awaited and not parsed';
    throw wrong(field, `${kind(value)} is neither bytes nor text`, hint);
  }
  if (value.length > most) throw tooLong(field, most);
  return value;
}

/** A text of at most `most` characters. */
export function text(value, field, most) {
  if (typeof value !== 'string') throw wrong(field, `${kind(value)} is not text`, 'pass a string');
  if (value.length > most) throw tooLong(field, most);
  return value;
}

/** An instant, RFC 3339: a text, or a `Date`, of which whole seconds count. */
export function instant(value, field) {
  if (typeof value === 'string') return text(value, field, 200);
  try {
    return Date.prototype.toISOString.call(value).replace(/\.\d+Z$/, 'Z');
  } catch {
    throw wrong(field, `${kind(value)} is not a time`, 'pass RFC 3339, such as 2026-11-27T05:00:00Z, or a valid Date');
  }
}

/** The decimal text of a number, a bigint or a text; what it may hold is judged where it is read. */
export function decimal(value, field) {
  if (typeof value === 'number' || typeof value === 'bigint') value = String(value);
  if (typeof value !== 'string') throw wrong(field, `${kind(value)} is neither a number nor text`);
  if (value.length > 100) throw wrong(field, 'more than 100 characters');
  return value;
}

/** A whole number that 32 bits hold. */
export function whole(value, field) {
  if (!Number.isInteger(value) || value < 0 || value > 4294967295) {
    throw wrong(field, `${typeof value === 'number' ? value : kind(value)} is not a whole number from 0 to 4294967295`);
  }
  return value;
}

/** An array of at most `most`, each read by `read`. */
export function list(value, field, most, read) {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrong(field, `${kind(value)} is not an array`, 'pass an array, also for one value');
  const { length } = value;
  if (length > most) throw wrong(field, `more than ${most}`);
  return Array.from({ length }, (_, at) => read(value[at]));
}

/** Texts, each of one line; none where there is no value, else at least so many. */
export function texts(value, field, most, read, least = 0) {
  const found = list(value, field, most, (one) => read(one, field));
  if (value !== undefined && found.length < least) throw wrong(field, 'an empty array');
  if (found.some((one) => one === '' || one.includes('\n'))) {
    throw wrong(field, 'a text is empty or has several lines');
  }
  return found;
}

/** A tick, which may be negative. */
export function tick(value, field) {
  if (!Number.isInteger(value)) throw wrong(field, `${kind(value)} is not a tick, which must be a whole number`);
  return value;
}

/** An object of options, all of known names. */
export function options(value, names, field = 'options') {
  if (value === undefined) return {};
  // Listing the keys of a byte array would take longer than everything else here.
  if (toString.call(value) !== '[object Object]') {
    throw wrong(field, `${kind(value)} is not an object of options`);
  }
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      const hint = names.length ? `the options are ${names.join(', ')}` : 'there are no options';
      throw new ExitgapError('unknown_parameter', `${name.slice(0, 40)} is not an option`, {
        field: name.slice(0, 40),
        hint,
      });
    }
  }
  return value;
}

function kind(value) {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
