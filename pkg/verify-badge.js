// <exitgap-verified>: requests one exit from a service and verifies it in the browser. The embedding page may be on any
// site.
//
//   <exitgap-verified service="https://exitgap.example" pool="ethereum:0x88e6…" size-usd="250000"></exitgap-verified>
//
// `base` names the token sold, `key` the log's verifier key. Without a key, this browser keeps the first key that the
// service names. Only an answer that passed all checks is shown as verified.

import { init } from './index.js';
import { Client } from './client.js';
import { webStorage } from './log.js';

const STYLE = `
  :host { display: inline-block; max-width: 100%; font: inherit; color: inherit; }
  .badge { display: inline-flex; flex-wrap: wrap; gap: .15em .6em; align-items: baseline; padding: .35em .7em; border: 1px solid currentColor; border-radius: .5em; }
  .number { font-weight: 600; font-variant-numeric: tabular-nums; }
  .mark { font-size: .875em; }
  .valid .mark { color: var(--exitgap-valid, #17693b); }
  .refused { border-style: dashed; }
  .refused .mark { color: var(--exitgap-refused, #a3201f); }
  .about { font-size: .875em; opacity: .85; flex-basis: 100%; }
`;
const ATTRIBUTES = ['service', 'pool', 'size-usd', 'base', 'key'];

/** A storage of this page where it has one; a page that keeps nothing, or may not, still verifies. */
function storage() {
  try {
    return webStorage();
  } catch {
    return undefined;
  }
}

const usd = (size) => `$${Number(size).toLocaleString('en-US', { maximumFractionDigits: 2 })}`;

/** A gap as a person reads it: what is below the oracle, and what is above it. */
function inWords(gap) {
  const size = Math.abs(gap).toLocaleString('en-US', { maximumFractionDigits: gap > -0.01 && gap < 0.01 ? 6 : 3 });
  return `${size}% ${gap < 0 ? 'above' : 'below'} the oracle`;
}

export class ExitgapVerified extends HTMLElement {
  static observedAttributes = ATTRIBUTES;
  #root = this.attachShadow({ mode: 'open' });
  #asked = null;

  constructor() {
    super();
    // Not a <style> element: the content security policy of the page may forbid it.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    this.#ask();
  }

  disconnectedCallback() {
    this.#asked?.abort();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#ask();
  }

  #show(kind, number, mark, about) {
    const part = (name, words) => {
      const element = document.createElement('span');
      element.className = name;
      element.textContent = words;
      return element;
    };
    const badge = part(`badge ${kind}`, '');
    badge.setAttribute('role', 'status');
    badge.append(part('number', number), part('mark', mark));
    if (about !== undefined) badge.append(part('about', about));
    this.#root.replaceChildren(badge);
  }

  async #ask() {
    this.#asked?.abort();
    const end = new AbortController();
    this.#asked = end;
    const [service, pool, sizeUsd, base, key] = ATTRIBUTES.map((name) => this.getAttribute(name) ?? undefined);
    const size = sizeUsd === undefined ? 'the exit' : usd(sizeUsd);
    this.#show('waiting', size, 'being verified …');
    try {
      await init();
      const client = new Client(service, { keys: key === undefined ? undefined : [key], storage: storage() });
      const { exit, log } = await client.estimate(pool, { sizeUsd, base, signal: end.signal });
      if (end.signal.aborted) return;
      const preview = exit.status === 'live' ? '' : ' · preview: not to be relied on';
      const of = exit.window.to;
      const word = log.trust === 'first_use' ? ', its key by the service\'s word' : '';
      this.#show('valid', `${size}: ${inWords(exit.exit_gap_pct)}`, '✓ verified by this page', `${pool} at ${of}, log ${log.origin}${word}${preview}`);
      this.dispatchEvent(new CustomEvent('exitgap-verified', { detail: exit, bubbles: true }));
    } catch (error) {
      if (end.signal.aborted) return;
      this.#show('refused', size, '✗ not verified', [error.message, error.hint].filter(Boolean).join('; '));
      this.dispatchEvent(new CustomEvent('exitgap-refused', { detail: error, bubbles: true }));
    }
  }
}

if (!customElements.get('exitgap-verified')) customElements.define('exitgap-verified', ExitgapVerified);
