// Chromium of the system, headless, with a profile of its own that goes away with it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const PATIENCE = 60_000; // ms: a loaded machine gets slack; nothing waits for a fixed time

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Calls `use(page)`; fails when the page broke its own rules (an error of a script, or of the Content-Security-Policy). */
export async function withPage(options, use) {
  const profile = await mkdtemp(join(tmpdir(), "penstock-console-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width: 1280, height: 900 },
    ...options,
    args: [...ARGUMENTS, ...(options.args ?? [])],
  });
  const broken = [];
  try {
    context.setDefaultTimeout(PATIENCE);
    const page = context.pages()[0] ?? (await context.newPage());
    page.on("pageerror", (error) => broken.push(`script: ${error.message}`));
    page.on("console", (message) => {
      // The browser's own line about an HTTP status is not the page's mistake.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) broken.push(message.text());
    });
    await use(page, context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  if (broken.length > 0) throw new Error(`the page complained:\n${broken.join("\n")}`);
}

/** Waits until `probe` gives something true, and gives it. */
export async function until(what, probe) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

export function check(condition, what) {
  if (!condition) throw new Error(`not so: ${what}`);
}

export async function open(page, url, view) {
  await page.goto(`${url}/#/${view}`);
  await page.getByText("live", { exact: true }).waitFor();
}

export async function call(url, method, path, body, token) {
  const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : undefined };
}
