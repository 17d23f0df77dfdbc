// Ed25519, strictly: what remains of RFC 8032's choices is settled as the format page has it.

import { createPublicKey, verify } from 'node:crypto';

import { require } from './shape.mjs';

const SIGNATURE_BYTES = 64;

/** The points of small order by their y, in every spelling; the sign of x makes no difference. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

function isSmallOrder(point) {
  const y = Buffer.from(point);
  y[31] &= 0x7f;
  return SMALL_ORDER.includes(y.toString('hex'));
}

const P = 2n ** 255n - 19n;

function power(base, exponent) {
  let [result, square] = [1n, base % P];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

const D = ((P - 121_665n) * power(121_666n, P - 2n)) % P;

/** Whether there is a point of this y: x² = (y² - 1) / (d·y² + 1) must be a square. */
function isPoint(bytes) {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  const square = (y * y) % P;
  const x2 = ((square + P - 1n) * power(D * square + 1n, P - 2n)) % P;
  return x2 === 0n || power(x2, (P - 1n) / 2n) === 1n;
}

/**
 * What tells whether the key of these 32 bytes signed a text. The library refuses an `s` that is
 * not reduced and an `R` that is not the one computed, byte for byte; points of small order, with
 * which one signature fits many texts, it does not.
 */
export function verifierOf(bytes) {
  require(isPoint(bytes), 'a key that is no point');
  const x = bytes.toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const weak = isSmallOrder(bytes);
  return (text, signature) => signature.length === SIGNATURE_BYTES && !weak
    && !isSmallOrder(signature.subarray(0, 32)) && verify(null, Buffer.from(text), key, signature);
}
