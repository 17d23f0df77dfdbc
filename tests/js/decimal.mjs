// Exact fractions, written as decimals with rounding half to even. A fraction is [numerator,
// denominator], both BigInts, the denominator positive.

import { require } from './shape.mjs';

export function times([a, b], [c, d]) {
  return [a * c, b * d];
}

export function over([a, b], [c, d]) {
  return [a * d, b * c];
}

export function oneMinus([a, b]) {
  return [b - a, b];
}

/** The whole number nearest to a fraction, the even one where two are. */
function nearest([numerator, denominator]) {
  let whole = numerator / denominator;
  let rest = numerator % denominator;
  // BigInt division cuts towards zero; from here on `whole` is the floor.
  if (rest < 0n) [whole, rest] = [whole - 1n, rest + denominator];
  const twice = 2n * rest;
  const up = twice > denominator || (twice === denominator && (whole & 1n) === 1n);
  return up ? whole + 1n : whole;
}

function point(digits, decimals) {
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, padded.length - decimals)}.${padded.slice(padded.length - decimals)}`;
}

/** A share in millionths of a percent, rounded half to even. */
export const millionthsOf = ([numerator, denominator]) => nearest([numerator * 100_000_000n, denominator]);

/** Whether a share is below a billion percent either way: beyond, a result has no figures. */
export function inRange(share) {
  const millionths = millionthsOf(share);
  return -(10n ** 15n) < millionths && millionths < 10n ** 15n;
}

/** A share as a percentage with six decimals. What rounds to zero has no sign. */
export function percentage(share) {
  require(inRange(share), 'a percentage of a billion or more');
  const millionths = millionthsOf(share);
  const sign = millionths < 0n ? '-' : '';
  return sign + point(String(millionths < 0n ? -millionths : millionths), 6);
}

/** A count of hundredths, with two decimals. */
export function hundredths(count) {
  return point(String(count), 2);
}

const DIGITS = 12;

/** A price, not negative, in plain notation with at most twelve significant digits. */
export function price([numerator, denominator]) {
  if (numerator === 0n) return '0';
  // The value has `magnitude` or one more digit before the point (fewer than none, if negative).
  let decimals = DIGITS - (String(numerator).length - String(denominator).length);
  const scaled = (places) =>
    places >= 0
      ? [numerator * 10n ** BigInt(places), denominator]
      : [numerator, denominator * 10n ** BigInt(-places)];
  const [top, bottom] = scaled(decimals);
  if (top / bottom >= 10n ** BigInt(DIGITS)) decimals -= 1;
  const digits = String(nearest(scaled(decimals)));
  if (decimals <= 0) return digits + '0'.repeat(-decimals);
  return point(digits, decimals).replace(/\.?0+$/, '');
}
