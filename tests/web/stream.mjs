// A browser's own EventSource while the service is killed and restarted: prints a line for each connection and, after
// the slot that standard input names has arrived, all ids that were received.
// Usage: node stream.mjs <service's address> <folder of node_modules>
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [service, modules] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.EXITGAP_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const page = await browser.newPage();
await page.goto(service);
const told = [];
await page.exposeFunction("opened", () => console.info("open"));
await page.exposeFunction("told", (id) => told.push(id));
await page.evaluate(() => {
  const source = new EventSource("/v1/stream");
  source.addEventListener("open", () => window.opened());
  for (const name of ["slot", "reset"]) {
    source.addEventListener(name, (event) => window.told(`${name} ${event.lastEventId}`));
  }
});
for await (const last of createInterface({ input: process.stdin })) {
  const until = Date.now() + 60_000;
  while (!told.at(-1)?.startsWith(`slot ${last}.`) && Date.now() < until) {
    await new Promise((done) => setTimeout(done, 100));
  }
  break;
}
console.info(JSON.stringify(told));
await browser.close();
