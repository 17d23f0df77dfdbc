// The rules for what may be paid.

import { inTokens, refusal, unitsOfTokens } from './amounts.js';
import { address, chainId } from './offers.js';
import { list, options, text, wrong } from '../arguments.js';

// Circle's own token contracts: chain, address, EIP-712 name.
const USDC = [
  ['eip155:1', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USD Coin'],
  ['eip155:10', '0x0b2c639c533813f4aa9d7837caf62653d097ff85', 'USD Coin'],
  ['eip155:137', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 'USD Coin'],
  ['eip155:8453', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'USD Coin'],
  ['eip155:42161', '0xaf88d065e77c8cc2239327c5edb3a432268e5831', 'USD Coin'],
  ['eip155:84532', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'],
];

const KNOWN = USDC.map(([network, asset, name]) => ({ network, address: asset, symbol: 'USDC', name, version: '2' }));

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 };
const MANY = 100;

function amount(value, field) {
  const found = unitsOfTokens(value);
  if (found === undefined) {
    throw wrong(field, 'it must be an amount, as a text such as \'0.02\', with at most six decimals');
  }
  return found;
}

function networkOf(value, field) {
  if (chainId(text(value, field, 40)) === undefined) throw wrong(field, 'it must be a CAIP-2 id such as eip155:8453');
  return value;
}

function addressOf(value, field) {
  const found = address(value);
  if (found === undefined) throw wrong(field, 'it must be an address of 0x and 40 hex digits');
  return found;
}

/** Milliseconds of `24h`, `30m`, `7d`, `90s`; undefined of `total`. */
function windowOf(value, field) {
  if (value === undefined || value === 'total') return undefined;
  const [, number, unit] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text(value, field, 20)) ?? [];
  if (number === undefined) throw wrong(field, 'it must be a time such as 24h, 30m, 7d or total');
  return Number(number) * SECONDS[unit] * 1000;
}

function budgetOf(one, networks) {
  const { host, pathPrefix = '/', network, limit, per } = options(one, ['host', 'pathPrefix', 'network', 'limit', 'per']);
  if (network === undefined && networks.length !== 1) {
    throw wrong('budgets.network', 'it must be given when there are several networks');
  }
  const named = text(host, 'budgets.host', 255);
  if (named !== named.toLowerCase() || /[/?#@\s]/.test(named)) {
    throw wrong('budgets.host', 'it must be a host such as exitgap.example or 127.0.0.1:8080, in lower case');
  }
  if (!text(pathPrefix, 'budgets.pathPrefix', 1024).startsWith('/')) throw wrong('budgets.pathPrefix', 'it must begin with /');
  return {
    host: named,
    pathPrefix,
    network: network === undefined ? networks[0] : networkOf(network, 'budgets.network'),
    limit: amount(limit, 'budgets.limit'),
    windowMs: windowOf(per, 'budgets.per'),
  };
}

function assetOf(one) {
  const fields = ['network', 'address', 'symbol', 'name', 'version'];
  const { network, address: contract, symbol, name, version } = options(one, fields);
  return {
    network: networkOf(network, 'assets.network'),
    address: addressOf(contract, 'assets.address'),
    symbol: text(symbol, 'assets.symbol', 64),
    name: text(name, 'assets.name', 64),
    version: text(version, 'assets.version', 64),
  };
}

/** Reads a caller's policy; see pay.d.ts. */
export function policyOf({ maxPerCall, budgets, networks, assets, payees }) {
  const all = (value, field, read) => {
    if (!Array.isArray(value) || value.length === 0) throw wrong(field, 'it must be an array with at least one entry');
    return list(value, field, MANY, read);
  };
  const allowed = all(networks, 'networks', (one) => networkOf(one, 'networks'));
  return new Policy({
    maxPerCall: amount(maxPerCall, 'maxPerCall'),
    networks: allowed,
    budgets: all(budgets, 'budgets', (one) => budgetOf(one, allowed)),
    assets: assets === undefined ? KNOWN : all(assets, 'assets', assetOf),
    payees: payees === undefined ? undefined : all(payees, 'payees', (one) => addressOf(one, 'payees')),
  });
}

/** Whether a budget is for an address and chain. */
export function covers(budget, host, path, network) {
  const prefix = budget.pathPrefix.replace(/\/+$/, '');
  const rest = path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
  return budget.host === host && budget.network === network && (rest === '' || rest?.startsWith('/') === true);
}

export function scopeOf({ host, pathPrefix, network, windowMs }) {
  const time = windowMs === undefined ? 'in total' : `in any ${windowMs / 1000} s`;
  return `${host}${pathPrefix} on ${network}, ${time}`;
}

class Policy {
  constructor(fields) {
    Object.assign(this, fields);
    Object.freeze(this);
  }

  /** The token of such a payment; throws where it may not be made, whatever was spent. */
  allows({ network, asset, payTo, amount: asked, domain }) {
    if (!this.networks.includes(network)) {
      throw refusal('network_not_allowed', `payment is requested on ${network}, which the policy does not allow`,
        'add the chain to the policy, if you have funds there');
    }
    const hint = 'add the token to the policy, with the name and version of its contract, if you want to pay with it';
    const notAllowed = (why) => refusal('asset_not_allowed', `payment is requested in ${asset} on ${network}: ${why}`, hint);
    const known = this.assets.find((one) => one.network === network && one.address === asset);
    if (known === undefined) throw notAllowed('the policy does not list it');
    if (known.name !== domain.name || known.version !== domain.version) {
      throw notAllowed(`the offer names ${JSON.stringify(domain.name)} version ${JSON.stringify(domain.version)}, but the token is `
        + `${JSON.stringify(known.name)} version ${JSON.stringify(known.version)}`);
    }
    if (this.payees !== undefined && !this.payees.includes(payTo)) {
      throw refusal('payee_not_allowed', `payment is requested to ${payTo}, which the policy does not list`,
        'add the payee to the policy, once you know whose address it is');
    }
    if (asked > this.maxPerCall) {
      const [price, most] = [asked, this.maxPerCall].map(inTokens);
      throw refusal('max_per_call_exceeded', `the price is ${price} USDC, but one call may cost at most ${most}`,
        'raise the maximum price of one call, or do not make the call');
    }
    return known;
  }

  budgetsFor(host, path, network) {
    const found = this.budgets.filter((budget) => covers(budget, host, path, network));
    if (found.length > 0) return found;
    throw refusal('no_budget', `no budget covers ${host}${path} on ${network}`, 'add a budget for this host and path');
  }
}

/** The host and path of an address that payments may be sent to: over TLS, or to this machine. */
export function place(address_) {
  const refused = (why) => refusal('address_not_paid', `${address_}: ${why}`,
    'use https and the current address of the service');
  let url;
  try {
    url = new URL(address_);
  } catch {
    throw refused('it is not a valid address');
  }
  const here = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && here)) {
    throw refused('without TLS anyone on the network path can change the payee');
  }
  return { host: url.host, path: url.pathname };
}
