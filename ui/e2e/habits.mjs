// What somebody who keeps the page open relies on: it comes back, it forgets no focus, it takes any name for what it is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { call, check, open, until, withPage } from "./browser.mjs";

const NASTY = "<img src=x onerror=alert(1)> דוד 100%/a";

/** Starts the daemon by the command given, and gives its process once it is ready. */
async function start(command) {
  const daemon = spawn(command[0], command.slice(1), { stdio: ["ignore", "pipe", "ignore"] });
  for await (const chunk of daemon.stdout) if (String(chunk).includes("ready ")) return daemon;
  throw new Error("the daemon did not start");
}

/** The daemon goes away and comes back: the page says so, keeps what it had, and loads anew by itself. */
export async function restart(url, command) {
  const words = JSON.parse(command);
  let daemon = await start(words);
  try {
    check((await call(url, "POST", "/admin/policies", { key: "first", capacity: 1 })).status === 201, "a policy");
    await withPage({}, async (page) => {
      await open(page, url, "overview");
      const samples = () => page.getByRole("img", { name: "Throttle decisions" }).count();
      await until("lines", samples);
      daemon.kill("SIGKILL");
      await once(daemon, "exit");
      await page.getByRole("alert").getByText("Not live:").waitFor();
      check((await samples()) === 1, "what was seen stays");
      await page.getByRole("link", { name: "Policies" }).click();
      await page.getByText("The daemon does not answer").first().waitFor();
      daemon = await start(words);
      await page.getByText("live", { exact: true }).waitFor();
      await page.getByRole("cell", { name: "first", exact: true }).waitFor();
      check((await page.getByRole("alert").count()) === 0, "nothing complains any more");
    });
  } finally {
    daemon.kill("SIGKILL");
  }
}

/** A tab nobody sees lets its connection go, and takes it again. */
export async function hidden(url) {
  await withPage({}, async (page) => {
    await page.clock.install();
    const see = (state) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    await open(page, url, "policies");
    const watched = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/admin/events"));
    await see("hidden");
    await page.clock.fastForward(61_000);
    await watched;
    const again = page.waitForRequest("**/admin/events");
    await see("visible");
    await again;
    await page.getByText("live", { exact: true }).waitFor();
  });
}

/** Names of any kind are shown as they are, go into links and come back out of them. */
export async function names(url) {
  check((await call(url, "POST", "/admin/policies", { key: NASTY, capacity: 1, refillRate: 0.001 })).status === 201, "a policy");
  for (let i = 0; i < 3; ++i) await call(url, "POST", "/api/v1/throttle/check", { key: NASTY });
  await withPage({}, async (page) => {
    await open(page, url, "policies");
    await page.getByRole("cell", { name: NASTY, exact: true }).waitFor();
    check((await page.locator("main img").count()) === 0, "nothing of a name becomes a part of the page");
    await open(page, url, "keys");
    await page.getByRole("button", { name: NASTY }).click();
    await page.getByText("LIMITED").waitFor();
    await page.reload();
    await page.getByText("LIMITED").waitFor();
    await page.goBack();
    await page.getByText("No key chosen").waitFor();
    await page.goto(`${url}/#/nothing-like-it`);
    await page.getByText("No such view").waitFor();
  });
}

/** A dialog gives the focus back; a number can be cleared and typed anew; what is shown goes by keyboard to the daemon once. */
export async function forms(url) {
  await withPage({}, async (page) => {
    await open(page, url, "policies");
    await page.getByRole("button", { name: "New policy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Capacity").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    check((await dialog.getByLabel("Capacity").inputValue()) === "", "a field can be empty");
    await page.keyboard.type("25");
    await dialog.getByLabel("Key").fill("typed");
    await dialog.getByRole("button", { name: "Save" }).dblclick();
    await page.getByText("25 tokens").waitFor();
    check((await page.getByRole("alert").count()) === 0, "two clicks make one policy");
    for (const leave of [() => page.keyboard.press("Escape"), () => dialog.getByRole("button", { name: "Cancel" }).click()]) {
      await page.getByRole("button", { name: "Delete" }).click();
      await dialog.waitFor();
      await leave();
      await dialog.waitFor({ state: "detached" });
      await page.locator("button:focus", { hasText: /^Delete$/ }).waitFor(); // the focus is where it was
    }
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
    await page.locator("#content:focus").waitFor(); // one goes on in the view, once it is drawn
  });
}

/** Lines are shown and hidden by keyboard; what they end with can be read out. */
export async function charts(url) {
  await withPage({}, async (page) => {
    await open(page, url, "overview");
    await page.getByRole("img", { name: /Throttle decisions: allowed .*\/s, denied/ }).waitFor();
    const dispatched = page.locator(".u-legend").getByRole("button", { name: /^DISPATCHED/ });
    check((await dispatched.getAttribute("aria-pressed")) === "false", "what would dwarf the others is off");
    await dispatched.focus();
    await page.keyboard.press("Enter");
    check((await dispatched.getAttribute("aria-pressed")) === "true", "and can be put on");
  });
}
