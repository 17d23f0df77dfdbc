// Reads the offers of a 402 response within limits, compares them, and selects one. The rules and their order are the
// same as in `exitgap-api::x402` and `exitgap-pay`.

import { inTokens, refusal, units, unitsOfTokens } from './amounts.js';

const MAX_HEADER = 16 << 10;
export const MAX_BODY = 64 << 10;
const MAX_ACCEPTS = 16;
const MAX_TIMEOUT_S = 86_400;

const V1_NETWORKS = {
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
};

const PLAIN = ['x-payment-amount', 'x-payment-currency', 'x-payment-network', 'x-payment-recipient'];

/** An offer that cannot be taken up. */
function unreadable(why) {
  const hint = 'this wallet pays by x402\'s scheme `exact`, versions 1 and 2, on EVM chains';
  return refusal('offer_unreadable', `the offer cannot be paid: ${why}`, hint);
}

function noAmount(field, found) {
  const shown = JSON.stringify(String(found)).slice(0, 80);
  const message = `${field} ${shown} is not a valid amount; use digits only, without sign, exponent or leading zero`;
  return refusal('amount_unreadable', message, 'this cannot be fixed on your side; inform the service\'s operator');
}

/** The JSON of a header's base64. */
function ofHeader(name, text) {
  if (text.length > MAX_HEADER) throw unreadable(`${name} has more than ${MAX_HEADER} bytes`);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw unreadable(`${name} is not padded base64`);
  }
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw unreadable(`${name} is not JSON`);
  }
}

export function encodeHeader(document) {
  return Buffer.from(JSON.stringify(document)).toString('base64');
}

/** An address in lower case; undefined where it is none. */
export function address(text) {
  return typeof text === 'string' && /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : undefined;
}

/** A CAIP-2 id of an EVM chain, with its number. */
export function chainId(network) {
  const [, id] = /^eip155:(0|[1-9][0-9]{0,15})$/.exec(network) ?? [];
  return id === undefined || !Number.isSafeInteger(Number(id)) ? undefined : Number(id);
}

const named = (text) => typeof text === 'string' && Buffer.byteLength(text) >= 1 && Buffer.byteLength(text) <= 64;

/**
 * What an entry of `accepts` asks for; null where it is a way to pay of another kind. What claims to be
 * of this kind, and cannot be read, throws.
 */
export function termsOf(version, entry) {
  const one = typeof entry === 'object' && entry !== null ? entry : {};
  const amountField = version === 1 ? 'maxAmountRequired' : 'amount';
  const texts = ['scheme', 'network', amountField, 'asset', 'payTo'];
  if (version === 1) texts.push('resource', 'description', 'mimeType');
  const missing = texts.find((field) => typeof one[field] !== 'string');
  if (missing !== undefined) throw unreadable(`accepts has no text field ${missing}`);
  const amount = units(one[amountField]);
  if (amount === undefined) throw noAmount(amountField, one[amountField]);
  if (one.scheme !== 'exact') return { none: `scheme ${JSON.stringify(one.scheme)} is not supported; only "exact" is` };
  const network = version === 1 ? V1_NETWORKS[one.network] : one.network;
  if (network === undefined || chainId(network) === undefined) {
    return { none: `network ${JSON.stringify(one.network)} is not a known EVM chain` };
  }
  const maxTimeoutS = one.maxTimeoutSeconds;
  if (!Number.isInteger(maxTimeoutS) || maxTimeoutS < 1 || maxTimeoutS > MAX_TIMEOUT_S) {
    throw unreadable('maxTimeoutSeconds is not a time in whole seconds');
  }
  const { name, version: tokenVersion } = one.extra ?? {};
  if (!named(name) || !named(tokenVersion)) return { none: 'extra has no name and version of the token' };
  const [asset, payTo] = ['asset', 'payTo'].map((field) => {
    const found = address(one[field]);
    if (found === undefined) throw unreadable(`${field} is not a valid address`);
    return found;
  });
  return { network, asset, payTo, amount, maxTimeoutS, domain: { name, version: tokenVersion } };
}

/** Those that can be taken up, and why one cannot. */
function payable(version, accepts, wire) {
  if (!Array.isArray(accepts) || accepts.length < 1 || accepts.length > MAX_ACCEPTS) {
    throw unreadable(`accepts lists no or more than ${MAX_ACCEPTS} ways to pay`);
  }
  const offers = [];
  let none;
  for (const accepted of accepts) {
    const terms = termsOf(version, accepted);
    if (terms.none === undefined) offers.push({ version, terms, accepted, ...wire });
    else none ??= terms.none;
  }
  return { offers, none };
}

function v2Of(header) {
  if (header === null) return { offers: [] };
  const required = ofHeader('payment-required', header);
  if (required?.x402Version !== 2) throw unreadable('payment-required does not have version 2');
  const { accepts, resource, extensions } = required;
  return payable(2, accepts, { resource, extensions });
}

function v1Of(body) {
  if (!body.trimStart().startsWith('{')) return { offers: [] };
  let read;
  try {
    read = JSON.parse(body);
  } catch {
    throw unreadable('the body is not JSON');
  }
  if (read.x402Version !== 1 || read.accepts === undefined) return { offers: [] };
  return payable(1, read.accepts, {});
}

function plainOf(headers) {
  const [amount, currency, network, recipient] = PLAIN.map((name) => headers.get(name));
  if ([amount, currency, network, recipient].every((value) => value === null)) return undefined;
  const missing = PLAIN.find((name) => headers.get(name) === null);
  if (missing !== undefined) throw unreadable(`${missing} is missing`);
  if (!/^(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?$/.test(amount)) throw noAmount(PLAIN[0], amount);
  if (chainId(network) === undefined) throw unreadable('x-payment-network is not an EVM chain');
  const payTo = address(recipient);
  if (payTo === undefined) throw unreadable('x-payment-recipient is not a valid address');
  return { amount, currency, network, payTo };
}

/** Everything that a 402 offers. */
export function readOffers(headers, body) {
  if (Buffer.byteLength(body) > MAX_BODY) throw unreadable(`the body has more than ${MAX_BODY} bytes`);
  return { v2: v2Of(headers.get('payment-required')), v1: v1Of(body), plain: plainOf(headers) };
}

function samePayment(one, other) {
  return one.network === other.network && one.asset === other.asset && one.payTo === other.payTo
    && one.amount === other.amount && one.domain.name === other.domain.name
    && one.domain.version === other.domain.version;
}

/** The offer to take up: the first that `allows` does not refuse, version 2 before version 1. */
export function choose(policy, { v2, v1, plain }) {
  let refused;
  for (const offer of [...v2.offers, ...v1.offers]) {
    let asset;
    try {
      asset = policy.allows(offer.terms);
    } catch (thrown) {
      refused ??= thrown;
      continue;
    }
    if (offer.terms.amount === 0n) throw unreadable('the price is zero');
    agree(offer, [v2.offers, v1.offers], plain, asset);
    return offer;
  }
  throw refused ?? unreadable(v2.none ?? v1.none ?? (plain ? 'it only offers a transfer' : 'there is no offer'));
}

/** All offers of an answer must ask for the same payment. */
function agree(chosen, versions, plain, asset) {
  const { terms } = chosen;
  const inconsistent = (why) => {
    const hint = 'this cannot be fixed on your side; inform the service\'s operator';
    throw refusal('offer_inconsistent', `the offers in one response contradict each other: ${why}`, hint);
  };
  for (const offers of versions.filter((some) => some.length > 0)) {
    const [{ version }] = offers;
    const others = offers.filter((one) => one.terms.network === terms.network && one.terms.asset === terms.asset);
    if (others.length === 0) inconsistent(`version ${version} is for another chain or token`);
    const other = others.find((one) => !samePayment(one.terms, terms));
    if (other !== undefined) {
      inconsistent(`version ${version} asks for ${other.terms.amount} units to ${other.terms.payTo}, but version `
        + `${chosen.version} asks for ${terms.amount} to ${terms.payTo}`);
    }
  }
  if (plain === undefined) return;
  const amount = unitsOfTokens(plain.amount);
  if (amount === undefined) throw noAmount(PLAIN[0], plain.amount);
  const same = amount === terms.amount && plain.network === terms.network && plain.payTo === terms.payTo;
  if (!same || plain.currency !== asset.symbol) {
    inconsistent(`the plain headers ask for ${plain.amount} ${plain.currency} on ${plain.network} to ${plain.payTo}, `
      + `but version ${chosen.version} asks for ${inTokens(terms.amount)} ${asset.symbol} on ${terms.network} to ${terms.payTo}`);
  }
}
