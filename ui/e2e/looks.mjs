// Every view at both widths and in both themes: nothing runs out of the page, text can be read; a picture of each is
// left in the folder given.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { check, open, until, withPage } from "./browser.mjs";

const VIEWS = ["overview", "timeline", "policies", "slot-configs", "keys", "dispatch", "payments", "messages"];
export const CONTRAST = 4.5; // of text, by WCAG AA
const FAINT = 3; // of what is not text

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
    if (!own || element.closest(":disabled, .hidden, .skip, noscript") || element.offsetParent === null) continue;
    const a = luminance(parse(getComputedStyle(element).color));
    const b = luminance(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) found.push(`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return found;
}

/** Fields, and the heat's colours against an empty window, that are too near to what is beside them. */
export function tooFaint(least) {
  const rgb = (text) => {
    const probe = document.createElement("i");
    probe.style.color = text;
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    return found;
  };
  const luminance = (color) => {
    const [x, y, z] = rgb(color).slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (one, other) => (Math.max(luminance(one), luminance(other)) + 0.05) / (Math.min(luminance(one), luminance(other)) + 0.05);
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const pairs = ["--heat-1", "--heat-2", "--heat-3", "--heat-4"].map((heat) => [heat, of(heat), of("--heat-0")]);
  pairs.push(["--edge", of("--edge"), of("--panel")], ["--accent", of("--accent"), of("--panel")]);
  for (const field of document.querySelectorAll("main input:not([type=checkbox], [type=range], :disabled), main select")) {
    pairs.push([field.name || field.type, getComputedStyle(field).borderTopColor, of("--panel")]);
  }
  return pairs.filter(([, one, other]) => ratio(one, other) < least).map(([name, one, other]) => `${name}: ${ratio(one, other).toFixed(2)}`);
}

/** What can be pressed or filled in but says nothing to somebody who does not see it. */
export function unnamed() {
  return [...document.querySelectorAll("main button, main input, main select, main canvas, main a, main [role=img]")]
    .filter((each) => each.offsetParent !== null && !each.closest(".u-wrap"))
    .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim() || each.closest("label")?.textContent.trim()))
    .map((each) => each.outerHTML.slice(0, 80));
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
          const faint = await page.evaluate(tooFaint, FAINT);
          check(faint.length === 0, `${view} in ${theme} can be seen: ${faint.join("; ")}`);
          const silent = await page.evaluate(unnamed);
          check(silent.length === 0, `${view} has a name for everything: ${silent.join("; ")}`);
        }
      }
    });
  }
}
