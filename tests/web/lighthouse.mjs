// What Lighthouse makes of the pages: scores from 0 to 100, the lowest of all pages. Of a desktop computer,
// and of a phone with a slow network and a slow processor, both simulated.
// Usage: node lighthouse.mjs <service's address> <folder of node_modules with lighthouse> <path>...
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CATEGORIES = ["performance", "accessibility", "best-practices"];

/** Each page's scores on each machine; what lost points is told on stderr. */
export async function judge(service, modules, paths) {
  const load = (name) => import(pathToFileURL(join(modules, name)));
  const { default: lighthouse, desktopConfig } = await load("lighthouse/core/index.js");
  const { launch } = await load("chrome-launcher/dist/index.js");
  const chrome = await launch({
    chromePath: process.env.EXITGAP_CHROMIUM ?? "/usr/bin/chromium",
    chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const rows = [];
  try {
    for (const path of paths) {
      for (const [machine, config] of [["desktop", desktopConfig], ["phone", undefined]]) {
        const flags = { port: chrome.port, logLevel: "error", onlyCategories: CATEGORIES };
        const { lhr } = await lighthouse(service + path, flags, config);
        if (lhr.runtimeError) throw new Error(`${path}: ${lhr.runtimeError.message}`);
        const scores = CATEGORIES.map((name) => Math.round(lhr.categories[name].score * 100));
        console.error(`lighthouse: ${machine} ${path.slice(0, 60)}: ${scores.join(" ")}${lost(lhr)}`);
        rows.push({ machine, path, scores });
      }
    }
  } finally {
    await chrome.kill();
  }
  return rows;
}

function lost(lhr) {
  const refs = Object.values(lhr.categories).flatMap((category) => category.auditRefs);
  const poor = refs.filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 0.9);
  return poor.map(({ id }) => `; ${id} ${lhr.audits[id].displayValue ?? ""}`).join("");
}

/** The lowest scores, by the name of a figure. */
export function lowest(rows) {
  const figures = {};
  for (const { machine, scores } of rows) {
    CATEGORIES.forEach((name, at) => {
      const key = `web.lighthouse.${machine}.${name.replace("-", "_")}`;
      figures[key] = Math.min(figures[key] ?? 100, scores[at]);
    });
  }
  return figures;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [service, modules, ...paths] = process.argv.slice(2);
  console.log(JSON.stringify(lowest(await judge(service, modules, paths))));
}
