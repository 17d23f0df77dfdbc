// Lighthouse scores of the pages, from 0 to 100: the lowest of all pages, for a desktop computer, and for a phone with
// a simulated slow network and slow processor.
// Usage: node lighthouse.mjs <service's address> <folder of node_modules with lighthouse> <path>...
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CATEGORIES = ["performance", "accessibility", "best-practices"];

/** Lighthouse's own troubles with its browser, by its code: nothing that a page did. */
const ITS_OWN = ["NO_NAVSTART", "NO_TRACING_STARTED", "NO_SCREENSHOTS", "NO_SPEEDLINE_FRAMES", "NO_FCP", "NO_LCP",
  "SPEEDINDEX_OF_ZERO", "NO_RESOURCE_REQUEST", "NO_DOCUMENT_REQUEST", "PROTOCOL_TIMEOUT", "TARGET_CRASHED",
  "REQUEST_CONTENT_TIMEOUT", "FETCHER_TIMED_OUT"];

/** How often a page is tried, each time in a browser of its own. */
const TRIES = 3;

/** Each page's scores on each machine, and the pages that Lighthouse could not record at all; what lost points
    is told on stderr. */
export async function judge(service, modules, paths) {
  const load = (name) => import(pathToFileURL(join(modules, name)));
  const { default: lighthouse, desktopConfig } = await load("lighthouse/core/index.js");
  const { launch } = await load("chrome-launcher/dist/index.js");
  const configs = { desktop: desktopConfig, phone: undefined };
  return judgeBy(async (path, machine) => {
    const chrome = await launch({
      chromePath: process.env.EXITGAP_CHROMIUM ?? "/usr/bin/chromium",
      chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    try {
      const flags = { port: chrome.port, logLevel: "error", onlyCategories: CATEGORIES };
      return (await lighthouse(service + path, flags, configs[machine])).lhr;
    } finally {
      await chrome.kill();
    }
  }, paths);
}

/** The same by any `record(path, machine)`, which gives Lighthouse's result. What Lighthouse itself could not
    do is tried again; what is the page's doing ends it. */
export async function judgeBy(record, paths) {
  const rows = [], notMeasured = [];
  for (const path of paths) {
    for (const machine of ["desktop", "phone"]) {
      const lhr = await recorded(record, path, machine);
      if (lhr === undefined) {
        notMeasured.push({ machine, path });
        continue;
      }
      const scores = CATEGORIES.map((name) => Math.round(lhr.categories[name].score * 100));
      console.error(`lighthouse: ${machine} ${path.slice(0, 60)}: ${scores.join(" ")}${lost(lhr)}`);
      rows.push({ machine, path, scores });
    }
  }
  return { rows, notMeasured };
}

/** A page's result; undefined where Lighthouse never could record it. */
async function recorded(record, path, machine) {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    let trouble;
    try {
      const lhr = await record(path, machine);
      if (!lhr.runtimeError) return lhr;
      trouble = lhr.runtimeError;
    } catch (thrown) {
      trouble = thrown;
    }
    const why = `${machine} ${path.slice(0, 60)}: ${trouble.code ?? ""} ${trouble.message}`;
    if (!ITS_OWN.includes(trouble.code)) throw new Error(why);
    console.error(`lighthouse: try ${tries} of ${TRIES}: ${why}`);
  }
  return undefined;
}

function lost(lhr) {
  const refs = Object.values(lhr.categories).flatMap((category) => category.auditRefs);
  const poor = refs.filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 0.9);
  return poor.map(({ id }) => `; ${id} ${lhr.audits[id].displayValue ?? ""}`).join("");
}

/** The lowest scores, by the name of a figure, and how many pages they do not speak for. */
export function lowest({ rows, notMeasured }) {
  const figures = { "web.lighthouse.not_measured": notMeasured.length };
  for (const { machine, scores } of rows) {
    CATEGORIES.forEach((name, at) => {
      const key = `web.lighthouse.${machine}.${name.replace("-", "_")}`;
      figures[key] = Math.min(figures[key] ?? 100, scores[at]);
    });
  }
  return figures;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [service, modules, ...paths] = process.argv.slice(2);
  console.log(JSON.stringify(lowest(await judge(service, modules, paths))));
}
