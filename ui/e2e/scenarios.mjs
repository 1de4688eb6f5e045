// What the console is tested for, in a real browser against a real daemon.
import { call, check, open, until, withPage } from "./browser.mjs";

const SIZE_MAX = 200 * 1024;

/** Create a policy, exhaust it, and see the line move. */
export async function policy(url) {
  await withPage({}, async (page) => {
    await open(page, url, "policies");
    await page.getByText("No policy yet").waitFor();
    await page.getByRole("button", { name: "New policy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key").fill("user:*");
    await dialog.getByLabel("Capacity").fill("3");
    await dialog.getByLabel("Refill rate").fill("0.001");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "user:*", exact: true }).waitFor();

    await page.getByLabel("Key").fill("user:1");
    for (const verdict of ["allowed", "allowed", "allowed", "denied"]) {
      const answered = page.waitForResponse("**/throttle/check");
      await page.getByRole("button", { name: "Check" }).click();
      await answered;
      await page.locator(".verdict .badge", { hasText: verdict }).waitFor();
    }
    await page.getByText("HTTP 429").waitFor();
    await page.getByRole("rowheader", { name: "retry-after" }).waitFor();

    // A new version, and its difference.
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Capacity").fill("4");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByText("4 tokens, refilled").waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("dialog").locator("td.after", { hasText: "4" }).first().waitFor();
    await page.keyboard.press("Escape");

    await open(page, url, "overview");
    const chart = page.getByRole("img", { name: "Throttle decisions" });
    await chart.waitFor();
    const before = await chart.locator("canvas").evaluate((canvas) => canvas.toDataURL());
    const tile = page.locator(".tile", { hasText: "Decisions" });
    await until("denials in the tile", async () => {
      for (let i = 0; i < 20; ++i) await call(url, "POST", "/api/v1/throttle/check", { key: "user:1" });
      return /\b[1-9][\d,.]*\/s denied/.test(await tile.innerText());
    });
    await until("the line moved", async () => (await chart.locator("canvas").evaluate((canvas) => canvas.toDataURL())) !== before);

    await open(page, url, "keys");
    await page.getByRole("button", { name: "user:1" }).click();
    await page.getByText("LIMITED").waitFor();
    await page.getByText("0 of 4 tokens").waitFor();
  });
}

/** Assign a burst and see the strip fill; preview another, which assigns nothing. */
export async function timeline(url) {
  await withPage({}, async (page) => {
    await open(page, url, "slot-configs");
    await page.getByRole("button", { name: "New slot config" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("bank");
    await dialog.getByLabel("Most per window").fill("50");
    await dialog.getByLabel("Window size").fill("4");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "bank", exact: true }).first().waitFor();

    await open(page, url, "timeline");
    await page.getByLabel("Slot config").selectOption("bank");
    const strip = page.locator("canvas.strip");
    await until("an empty strip", async () => (await strip.getAttribute("data-events")) === "0");
    const at = new Date(Date.now() + 30_000).toISOString();
    const burst = Array.from({ length: 500 }, (_, i) => ({ eventId: `burst-${i}`, configName: "bank", requestedTime: at }));
    check((await call(url, "POST", "/api/v1/slots/batch", burst)).status === 200, "the burst is assigned");
    await until("the strip shows the burst", async () => (await strip.getAttribute("data-events")) === "500");
    check(Number(await strip.getAttribute("data-full")) >= 8, "full windows are told");
    await page.getByRole("list", { name: "Full stretches" }).getByRole("button").first().waitFor();

    await page.getByLabel("Events", { exact: true }).fill("1000");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1,000 events would fill").waitFor();
    const windows = await call(url, "GET", `/api/v1/windows?config=bank&from=${at.slice(0, 10)}T00:00:00Z&to=2200-01-01T00:00:00Z`);
    check(windows.body.windows.reduce((sum, each) => sum + each.used, 0) === 500, "the preview assigned nothing");

    // By keyboard: out to a day, and sideways.
    await strip.focus();
    for (let i = 0; i < 8; ++i) await page.keyboard.press("-");
    await until("zoomed out", async () => /[12] d/.test(await page.locator(".legend").innerText()));
    check((await strip.getAttribute("data-events")) === "500", "the burst is still in view");
    await page.keyboard.press("ArrowRight");
    const follow = page.getByRole("button", { name: "Follow now" });
    check((await follow.getAttribute("aria-pressed")) === "false", "who moves it is not moved");
    await page.keyboard.press("Home");
    await until("it follows the time again", async () => (await follow.getAttribute("aria-pressed")) === "true");
    // What was previewed for one config is not shown for another.
    check((await call(url, "POST", "/admin/rate-limit/config", { configName: "other", maxPerWindow: 1, windowSize: "PT4S" })).status === 200, "another config");
    await page.reload();
    await page.getByLabel("Slot config").selectOption("bank");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1,000 events would fill").waitFor();
    await page.getByLabel("Slot config").selectOption("other");
    await page.getByText("1,000 events would fill").waitFor({ state: "detached" });
  });
}

/** Flip the kill switch and change the pace, each after asking. */
export async function dispatch(url) {
  await withPage({}, async (page) => {
    await open(page, url, "dispatch");
    await page.getByText("No item type yet").waitFor();
    await page.getByRole("button", { name: "New item type" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("EMAIL");
    await page.getByRole("dialog").getByLabel("Pace").fill("50");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const card = page.getByRole("article", { name: "EMAIL" });
    await card.getByText("dispatching").waitFor();

    const enabled = async () => (await call(url, "GET", "/admin/dispatch/types/EMAIL")).body.enabled;
    await card.getByRole("switch").click();
    check(await enabled(), "nothing happens before it is confirmed");
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await card.getByText("stopped", { exact: true }).waitFor();
    check(!(await enabled()), "the kill switch reached the daemon");

    const soon = new Date(Date.now() - 1000).toISOString();
    check((await call(url, "POST", "/api/v1/dispatch/EMAIL", { itemId: "e-1", scheduledTime: soon, context: {} })).status === 202, "an item is taken");
    await card.getByRole("switch").click();
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await card.getByText("dispatching").waitFor();
    await until("the item is dispatched", async () => (await call(url, "GET", "/api/v1/dispatch/EMAIL/e-1")).body.status === "DISPATCHED");

    await page.getByLabel("Pace of EMAIL, items per second").fill("200");
    await card.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
    await card.getByText("Pace: 200/s").waitFor();
    check((await call(url, "GET", "/admin/dispatch/types/EMAIL")).body.maxPerSecond === 200, "the pace reached the daemon");

    await page.getByLabel("Item id", { exact: true }).fill("e-1");
    await page.getByRole("button", { name: "Find" }).click();
    const story = page.getByRole("list", { name: "What happened" });
    for (const step of ["ENQUEUED", "CLAIMED", "DISPATCHED"]) await story.getByText(step, { exact: true }).first().waitFor();
  });
}

/** The token opens the page, and is found nowhere but in this tab. */
export async function signin(url, token) {
  await withPage({}, async (page, context) => {
    await page.goto(url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.keyboard.type("wrong");
    check((await page.getByLabel("Admin token").inputValue()) === "wrong", "one can type at once");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("not the admin token").waitFor();
    await page.getByLabel("Admin token").fill(token);
    await page.keyboard.press("Enter");
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Policies" }).click();
    await page.getByText("No policy yet").waitFor();
    check(!page.url().includes(token), "no token in the URL");
    check(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes(token), "no token in localStorage");
    check((await context.cookies()).length === 0, "no cookies");
    await page.reload();
    await page.getByText("live", { exact: true }).waitFor();

    // A token that is no longer good: the next answer asks for another.
    await page.evaluate(() => sessionStorage.setItem("penstock.token", "expired"));
    await page.reload();
    await page.getByText("The token was not accepted.").waitFor();
    await page.getByLabel("Admin token").fill(token);
    await page.keyboard.press("Enter");
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    check(!(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).includes(token), "signed out, it is forgotten");
  });
}

/** What the first paint takes over the wire, and that a second visit takes next to nothing. */
export async function weight(url) {
  await withPage({}, async (page, context) => {
    const network = await context.newCDPSession(page);
    await network.send("Network.enable");
    let bytes = 0;
    let streamId = "";
    network.on("Network.requestWillBeSent", (event) => {
      if (event.request.url.endsWith("/admin/events")) streamId = event.requestId;
    });
    network.on("Network.loadingFinished", (event) => {
      if (event.requestId !== streamId) bytes += event.encodedDataLength;
    });
    await open(page, url, "overview");
    await page.getByRole("img", { name: "Throttle decisions" }).waitFor();
    console.log(`first paint: ${bytes} bytes transferred`);
    check(bytes > 10_000 && bytes < SIZE_MAX, `first paint transfers ${bytes} bytes`);
    bytes = 0;
    await page.reload();
    await page.getByRole("img", { name: "Throttle decisions" }).waitFor();
    console.log(`second visit: ${bytes} bytes transferred`);
    check(bytes < 20_000, `the second visit transfers ${bytes} bytes`);
  });
}

/** All of it by keyboard, from the skip link to a dialog and out of it. */
export async function keyboard(url) {
  await withPage({}, async (page) => {
    await open(page, url, "overview");
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    const tabTo = async (text) => {
      for (let i = 0; i < 60; ++i) {
        await page.keyboard.press("Tab");
        if ((await focused()) === text) return;
      }
      throw new Error(`Tab never came to ${text}`);
    };
    await tabTo("Policies");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Policies", level: 1 }).waitFor();
    await tabTo("New policy");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("by-hand");
    check((await page.getByRole("dialog").getByLabel("Key").inputValue()) === "by-hand", "the first field has the focus");
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "by-hand", exact: true }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
}
