// Balancer's fixed point power: exponentials and logarithms from tables and short series.

import { mul, ONE, refuseTooMuch } from './word.mjs';

const E20 = 10n ** 20n;
const E36 = 10n ** 36n;

/** Powers of e that are whole: the exponent in 18 decimals, and its power as a whole number. */
const LARGE = [
  [128n * ONE, 38877084059945950922200000000000000000000000000000000000n],
  [64n * ONE, 6235149080811616882910000000n],
];

/** e to 32, 16, 8, … 1/16, exponent and power in 20 decimals. */
const SMALL = [
  7896296018268069516100000000000000n, 888611052050787263676000000n, 298095798704172827474000n,
  5459815003314423907810n, 738905609893065022723n, 271828182845904523536n, 164872127070012814685n,
  128402541668774148407n, 113314845306682631683n, 106449445891785942956n,
].map((power, at) => [(32n * E20) >> BigInt(at), power]);

/** The last two are for logarithms only. */
const EXP_TERMS = SMALL.slice(0, 8);

function exp(x) {
  if (x < -41n * ONE || x > 130n * ONE) refuseTooMuch('an exponent out of range');
  if (x < 0n) return (ONE * ONE) / exp(-x);
  const [taken, first] = LARGE.find(([exponent]) => x >= exponent) ?? [0n, 1n];
  let rest = (x - taken) * 100n;
  let product = E20;
  for (const [exponent, power] of EXP_TERMS) {
    if (rest < exponent) continue;
    rest -= exponent;
    product = (product * power) / E20;
  }
  let [term, sum] = [rest, E20 + rest];
  for (let n = 2n; n <= 12n; n += 1n) {
    term = (term * rest) / E20 / n;
    sum += term;
  }
  return (((product * sum) / E20) * first) / 100n;
}

/** `z + z³/3 + z⁵/5 + …` up to an odd power, in fixed point. */
function oddSeries(z, one, last) {
  const square = (z * z) / one;
  let [power, sum] = [z, z];
  for (let n = 3n; n <= last; n += 2n) {
    power = (power * square) / one;
    sum += power / n;
  }
  return sum;
}

function ln(value) {
  if (value < ONE) return -ln((ONE * ONE) / value);
  let [rest, sum] = [value, 0n];
  for (const [exponent, power] of LARGE) {
    if (rest < power * ONE) continue;
    rest /= power;
    sum += exponent;
  }
  rest *= 100n;
  sum *= 100n;
  for (const [exponent, power] of SMALL) {
    if (rest < power) continue;
    rest = (rest * E20) / power;
    sum += exponent;
  }
  const series = oddSeries(((rest - E20) * E20) / (rest + E20), E20, 11n);
  return (sum + 2n * series) / 100n;
}

/** The logarithm of what lies near one, in 36 decimals. */
function lnNearOne(value) {
  const x = value * ONE;
  return 2n * oddSeries(((x - E36) * E36) / (x + E36), E36, 15n);
}

function pow(base, exponent) {
  if (exponent === 0n) return ONE;
  if (base === 0n) return 0n;
  const near = base > 9n * 10n ** 17n && base < 11n * 10n ** 17n;
  const fine = near ? lnNearOne(base) : ln(base);
  // Of the finer logarithm, the part below 18 decimals is multiplied by itself.
  const product = near
    ? (fine / ONE) * exponent + ((fine % ONE) * exponent) / ONE : fine * exponent;
  return exp(product / ONE);
}

export function mulDown(a, b) {
  return mul(a, b) / ONE;
}

export function mulUp(a, b) {
  const product = mul(a, b);
  return product === 0n ? 0n : (product - 1n) / ONE + 1n;
}

/** A power that is never below the true one. */
export function powUp(base, exponent) {
  if (exponent === ONE) return base;
  const square = () => mulUp(base, base);
  if (exponent === 2n * ONE) return square();
  if (exponent === 4n * ONE) return mulUp(square(), square());
  const found = pow(base, exponent);
  return found + mulUp(found, 10_000n) + 1n;
}

/** A number that the power of no larger base is below. */
export function powBelow(base, exponent) {
  const found = powUp(base, exponent);
  // As much again as what is added to a power, which covers what it can be off.
  const off = 2n * (mulUp(found, 10_000n) + 1n);
  return found > off ? found - off : 0n;
}
