// Every view at both widths and in both themes: nothing runs out of the page, text can be read; a picture of each is
// left in the folder given.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { check, open, until, withPage } from "./browser.mjs";

const VIEWS = ["overview", "timeline", "policies", "slot-configs", "keys", "dispatch", "payments", "messages"];
export const CONTRAST = 4.5;

/** Texts of the page whose colour is too near to what is behind them. */
export function tooPale(least) {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "");
    if (!own || element.closest(":disabled, .hidden, .skip, noscript, .u-legend") || element.offsetParent === null) continue;
    const a = luminance(parse(getComputedStyle(element).color));
    const b = luminance(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) found.push(`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return found;
}

export async function looks(url, folder) {
  if (folder) await mkdir(folder, { recursive: true });
  for (const theme of ["light", "dark"]) {
    await withPage({ colorScheme: theme }, async (page) => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const view of VIEWS) {
          await open(page, url, view);
          await page.waitForLoadState("load");
          await page.locator("main .panel, main .empty").first().waitFor();
          await page.getByText("Loading…").waitFor({ state: "detached" });
          if (view === "timeline") await until("the strip", async () => Number(await page.locator(".strip").getAttribute("data-events")) > 0);
          if (view === "keys") await page.locator(".bars li").first().waitFor();
          if (view === "messages") {
            await page.getByRole("button", { name: "user 7" }).click();
            await page.getByRole("img", { name: "Usage of user 7" }).waitFor();
          }
          if (folder) await page.screenshot({ path: join(folder, `${view}-${width}-${theme}.png`), fullPage: true });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          check(wide <= 0, `${view} at ${width} px is ${wide} px too wide`);
          const pale = await page.evaluate(tooPale, CONTRAST);
          check(pale.length === 0, `${view} in ${theme} can be read: ${pale.join("; ")}`);
        }
      }
    });
  }
}
