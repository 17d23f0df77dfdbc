// The balance that keeps the invariant of a crypto pool: a cubic's root in closed form, or found by
// rounds where that has none.

import { ONE, refuseTooMuch, signed, within, word } from './word.mjs';

const WHOLE = 10n ** 36n;
const MIN_SHARE = 10n ** 16n;
const MAX_SHARE = 10n ** 20n;
/** How far what is solved is shortened, from the largest power of ten that it is above. */
const SHORTENED = { 2: [48n, 46n, 44n, 42n, 40n, 38n, 36n, 34n, 32n, 30n, 28n, 26n, 24n, 20n],
  3: [48n, 44n, 40n, 36n, 32n, 28n, 24n, 20n] };
/** ⌊2²⁵⁶ ÷ 10³⁶⌋. */
const ROOM = 2n ** 256n / WHOLE;

const size = (value) => (value < 0n ? -value : value);

/** Cut towards zero, as BigInt divides. */
function cut(a, b) {
  return b === 0n ? refuseTooMuch('a division by zero') : a / b;
}

/** The square root of a number above zero, rounded down. */
function squareRoot(value) {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) / 2n;
    if (next >= root) return root;
    root = next;
  }
}

/** Seven rounds towards the cube root, of eighteen decimals; its sign is the number's. */
function cubeRoot(value) {
  if (value < 0n) return -cubeRoot(-value);
  const [grown, more] = value >= ROOM * ONE ? [value, 10n ** 12n]
    : value >= ROOM ? [value * ONE, 10n ** 6n] : [value * WHOLE, 1n];
  const bits = grown === 0n ? 0 : grown.toString(2).length - 1;
  const rest = BigInt(bits % 3);
  let root = (2n ** BigInt(Math.floor(bits / 3)) * 1_260n ** rest) / 1_000n ** rest;
  for (let round = 0; round < 7; round += 1) root = (2n * root + cut(grown, root * root)) / 3n;
  return word(root * more);
}

const shortening = (value, count) =>
  10n ** ((SHORTENED[count].find((power) => size(value) > 10n ** power) ?? 18n) - 18n);

/** `3ac ÷ b − b` of a cubic. */
const firstOf = ([a, b, c]) => cut(3n * a * c, b) - b;
/** `27a² ÷ b × d ÷ b` of a cubic. */
const lastOf = ([a, b, , d]) => cut(cut(27n * a * a, b) * d, b);

/** The parts of a root, from what the two formulas of the cubic are; nothing where it has more than one. */
function rooted(b, delta0, delta1, cube) {
  const square = signed(signed(delta1 * delta1) + cube);
  if (square <= 0n) return undefined;
  const root = squareRoot(square);
  const half = delta1 > 0n ? cubeRoot((delta1 + root) / 2n) : -cubeRoot((root - delta1) / 2n);
  const base = cubeRoot(b);
  return { b, delta0, root: cut(base * base, ONE) * half / ONE };
}

const cubeOf = (b, delta0) => cut(4n * delta0 * delta0, b) * delta0;

/** Of three coins: the cubic's coefficients, shortened. */
function cubicOfThree({ gamma: g, amp, d }, [xj, xk]) {
  const b = signed(WHOLE / 9n + (2n * ONE * g) / 27n
    - cut(signed(cut(d * d, xj) * g * g * amp) / 729n / 10_000n, xk));
  const c = signed(WHOLE / 9n + (g * (g + 4n * ONE)) / 27n
    + cut(signed(g * g * (xj + xk - d)), d) * amp / 27n / 10_000n);
  const terms = [WHOLE / 27n, b, c, (ONE + g) ** 2n / 27n];
  const least = shortening(firstOf(terms), 3);
  const [a] = terms;
  if (a > size(b)) return terms.map((term) => (term * size(cut(a, b))) / least);
  const less = size(b) / a;
  return terms.map((term) => term / less / least);
}

function besideTwo(curve, others) {
  const { d } = curve;
  others.forEach((x) => requireShare(curve, x));
  const cubic = cubicOfThree(curve, others);
  const [a, b, c] = cubic;
  signed(3n * a * c);
  const delta0 = firstOf(cubic);
  const delta1 = cut(9n * a * c, b) - 2n * b - lastOf(cubic);
  const solved = rooted(b, delta0, delta1, signed(cubeOf(b, delta0)));
  if (solved === undefined) return iterated(curve, others);
  const third = (b + cut(b * delta0, solved.root) - solved.root) / 3n;
  const [xj, xk] = others;
  const y = word(cut((d * d) / 27n / xk * d / xj * third, a));
  within((y * ONE) / d, MIN_SHARE - 1n, MAX_SHARE);
  return y;
}

/** Of two coins. */
function cubicOfTwo({ gamma: g, amp, d }, x) {
  const steep = signed(amp * g * g);
  const four = (4n * steep) / 400_000_000n;
  const b = signed(cut(signed(d * steep) / 400_000_000n, x) - 3n * 10n ** 32n - 2n * g * 10n ** 14n);
  const c = signed(3n * 10n ** 32n + 4n * g * 10n ** 14n + (g * g) / 10_000n
    + (four * x) / d - four);
  const terms = [10n ** 32n, b, c, -((ONE + g) ** 2n / 10_000n)];
  const delta0 = firstOf(terms);
  const sizes = [delta0, 3n * delta0 + b - lastOf(terms), terms[0]].map(size);
  const least = shortening(sizes.reduce((a, other) => (other < a ? other : a)), 2);
  return terms.map((term) => term / least);
}

function besideOne(curve, x) {
  const { d, limit } = curve;
  within((2n * ONE * x) / d, WHOLE / limit, limit);
  const cubic = cubicOfTwo(curve, x);
  const [a, b] = cubic;
  const delta0 = firstOf(cubic);
  const delta1 = 3n * delta0 + b - lastOf(cubic);
  const solved = rooted(b, delta0, delta1, cubeOf(b, delta0));
  if (solved === undefined) return iterated(curve, [x]);
  const { root } = solved;
  const above = cut(ONE * root - ONE * b - cut(ONE * b, root) * delta0, 3n * a);
  const y = word((d * d) / x * above / 4n / ONE);
  within((y * ONE) / d, WHOLE / 2n / limit, limit / 2n);
  return y;
}

/** A balance of three is from a hundredth to a hundred of the invariant. */
function requireShare({ d }, x) {
  within((x * ONE) / d, MIN_SHARE, MAX_SHARE);
}

/** Where the rounds start, and what of them is known of the other balances. */
function startOf({ d }, descending) {
  if (descending.length === 1) {
    const [x] = descending;
    return { y: (d * d) / (4n * x), known: (2n * ONE * x) / d };
  }
  const ascending = [...descending].reverse();
  return {
    y: ascending.reduce((y, x) => word(y * d) / (3n * x), d / 3n),
    known: descending.reduce((known, x) => (known * x * 3n) / d, ONE),
  };
}

/** One round from `y` on. */
function round({ d, gamma, amp }, y, { known, others, count }) {
  const k = word(word(known * y) * count) / d;
  const apart = size(gamma + ONE - k) + 1n;
  const first = word(word(cut(word(cut(word(ONE * d), gamma) * apart), gamma) * apart) * 10_000n) / amp;
  const second = ONE + (2n * ONE * k) / apart;
  const sum = others + y;
  const rise = word(ONE * y + sum * second + first) - word(d * second);
  if (rise < 0n) return { halved: y / 2n };
  const slope = cut(rise, y);
  const minus = cut(first, slope);
  const plus = (rise + ONE * d) / slope + cut(minus * ONE, k);
  const less = minus + (ONE * sum) / slope;
  return { y: plus < less ? y / 2n : plus - less };
}

function iterated(curve, balances) {
  const descending = [...balances].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  const start = startOf(curve, descending);
  const rest = { known: start.known, others: balances.reduce((sum, x) => sum + x, 0n),
    count: BigInt(balances.length + 1) };
  const fine = 10n ** 14n;
  const close = [descending[0] / fine, curve.d / fine, 100n].reduce((a, b) => (a > b ? a : b));
  let { y } = start;
  for (let left = 255; left > 0; left -= 1) {
    const next = round(curve, y, rest);
    const before = y;
    y = next.halved ?? next.y;
    const enough = close > y / fine ? close : y / fine;
    if (next.halved === undefined && size(y - before) < enough) {
      if (balances.length === 2) requireShare(curve, y);
      return word(y);
    }
  }
  return refuseTooMuch('a curve that does not converge');
}

/** The scaled balance beside these others', in the order of the coins. */
export function beside(curve, others) {
  within(curve.d, 10n ** 17n, 10n ** 33n);
  return others.length === 2 ? besideTwo(curve, others) : besideOne(curve, others[0]);
}

/** How many times the invariant's half a balance of two may be, and how many times less; of eighteen decimals. */
export function limitOf(gamma) {
  const most = 100n * ONE;
  return gamma > 2n * 10n ** 16n ? (most * 2n * 10n ** 16n) / gamma : most;
}
