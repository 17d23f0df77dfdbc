// Amounts in the smallest unit of a dollar token, as BigInt, never as Number.

import { ExitgapError } from '../error.js';

const DECIMALS = 6;
const MOST = 2n ** 128n - 1n;

/** Whole units of a text of digits; undefined where it is none. */
export function units(text) {
  if (typeof text !== 'string' || !/^(0|[1-9][0-9]{0,38})$/.test(text)) return undefined;
  const found = BigInt(text);
  return found <= MOST ? found : undefined;
}

/** Units of a text in whole tokens, such as `0.01`; undefined where it is none. Nothing is rounded. */
export function unitsOfTokens(text) {
  if (typeof text !== 'string' || text.length > 50) return undefined;
  const [, whole, part = ''] = /^(0|[1-9][0-9]*)(?:\.([0-9]{1,18}))?$/.exec(text) ?? [];
  if (whole === undefined || part.length > DECIMALS) return undefined;
  return units((whole + part.padEnd(DECIMALS, '0')).replace(/^0+(?=[0-9])/, ''));
}

/** Units in whole tokens, without zeros at the end. */
export function inTokens(found) {
  const text = found.toString().padStart(DECIMALS + 1, '0');
  const part = text.slice(-DECIMALS).replace(/0+$/, '');
  const whole = text.slice(0, -DECIMALS);
  return part === '' ? whole : `${whole}.${part}`;
}

/** An error of the wallet. */
export function refusal(code, message, hint, more = {}) {
  return new ExitgapError(code, message, { hint, ...more });
}
