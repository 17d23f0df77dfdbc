// RLP, as far as headers, accounts and nodes need it. One item has one spelling, and no other is read.

import { require } from '../shape.mjs';

/** The longest length that a head may spell, in bytes: no proof is as large as the next. */
const MOST_LENGTH_BYTES = 3;

/** How long an item's head is, and what it is the head of. */
function headOf(bytes) {
  const [first] = bytes;
  if (first < 0x80) return { head: 0, length: 1 };
  const short = first & 0x3f;
  if (short < 56) return { head: 1, length: short };
  const count = short - 55;
  require(count <= MOST_LENGTH_BYTES && bytes.length > count, 'an item longer than what there is');
  const length = bytes.readUIntBE(1, count);
  require(bytes[1] !== 0 && length >= 56, 'a length that a shorter head would have said');
  return { head: 1 + count, length };
}

/** The first item, `{isList, payload, whole}`, and the `rest` after it. */
export function split(bytes) {
  require(bytes.length > 0, 'an item that is not there');
  const { head, length } = headOf(bytes);
  require(head + length <= bytes.length, 'an item longer than what there is');
  const payload = bytes.subarray(head, head + length);
  require(bytes[0] !== 0x81 || payload[0] >= 0x80, 'a byte with a head that it does not need');
  return {
    isList: bytes[0] >= 0xc0,
    payload,
    whole: bytes.subarray(0, head + length),
    rest: bytes.subarray(head + length),
  };
}

/** The one item that bytes are. */
export function item(bytes) {
  const only = split(bytes);
  require(only.rest.length === 0, 'something after an item');
  return only;
}

/** The items of the one list that bytes are, at most so many, each as it stands there. */
export function items(bytes, most) {
  const { isList, payload } = item(bytes);
  require(isList, 'no list');
  const found = [];
  for (let left = payload; left.length > 0;) {
    require(found.length < most, `more than ${most} items`);
    const { whole, rest } = split(left);
    found.push(whole);
    left = rest;
  }
  return found;
}

/** The text that bytes are. */
export function text(bytes) {
  const { isList, payload } = item(bytes);
  require(!isList, 'a list where a text is due');
  return payload;
}

/** The same where it is of 32 bytes. */
export function hash(bytes) {
  const found = text(bytes);
  require(found.length === 32, 'not 32 bytes');
  return found;
}

/** The number that a text spells, of at most so many bytes and without zeros in front. */
export function number(bytes, most) {
  const digits = text(bytes);
  require(digits.length <= most && digits[0] !== 0, `no number of up to ${most} bytes`);
  return digits.reduce((sum, digit) => (sum << 8n) | BigInt(digit), 0n);
}
