// The depth of pools whose curve is no row of formulas: the format page says what it is, and leaves
// to each verifier how it is found.
//
// Sizes are divided, the larger half first. A half is left out where what no amount of it brings more
// than is not even enough for its smallest amount. So what is found is the largest, or nothing is
// said.

import { NotChecked } from './shape.mjs';

/** Parts of the sizes that are looked at. */
const MAX_PARTS = 50_000;
const MAX_DOLLARS = 10n ** 9n;

/** See `depthOf` for the parts of a sale. */
export function largestDollars({ pool, weights: [outWeight, inWeight], dollars }) {
  const passes = (out, amount) => out > 0n && out * outWeight >= amount * inWeight;
  const { amountOf, within } = dollars;
  const most = within(pool.largest(amountOf(MAX_DOLLARS)));
  let left = MAX_PARTS;
  const search = (low, high) => {
    left -= 1;
    if (left < 0) throw new NotChecked('a depth that takes too long to find');
    const [from, to] = [amountOf(low), amountOf(high)];
    if (to === 0n) return 0n;
    if (passes(pool.out(to), to)) return high;
    if (low === high) return 0n;
    const paid = from === 0n ? undefined : pool.atMost(from, to);
    if (paid !== undefined && !passes(paid, from)) return 0n;
    const middle = (low + high) / 2n;
    return search(middle + 1n, high) || search(low, middle);
  };
  return most === 0n ? 0n : search(1n, most);
}
