// The reference of the API at /docs: it fits, can be read, is searched, and works by keyboard.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { check, withPage } from "./browser.mjs";
import { CONTRAST, tooPale } from "./looks.mjs";

export async function reference(url, folder) {
  if (folder) await mkdir(folder, { recursive: true });
  for (const theme of ["light", "dark"]) {
    await withPage({ colorScheme: theme }, async (page) => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${url}/docs`);
        await page.getByRole("heading", { name: "Penstock API" }).waitFor();
        // What is folded away must fit, too.
        await page.evaluate(() => document.querySelectorAll("main details").forEach((each) => (each.open = true)));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        check(wide <= 0, `at ${width} px it is ${wide} px too wide`);
        const pale = await page.evaluate(tooPale, CONTRAST);
        check(pale.length === 0, `in ${theme} it can be read: ${pale.slice(0, 5).join("; ")}`);
        await page.evaluate(() => document.querySelectorAll("main details").forEach((each) => (each.open = false)));
        for (const [name, place] of [["top", "introduction"], ["operation", "checkThrottle"], ["schema", "schema-ItemType"]]) {
          await page.evaluate((id) => document.getElementById(id).scrollIntoView(), place);
          if (name === "operation") await page.locator("#checkThrottle details").nth(2).evaluate((each) => (each.open = true));
          if (folder) await page.screenshot({ path: join(folder, `reference-${name}-${width}-${theme}.png`) });
        }
      }
    });
  }
  await withPage({}, async (page) => {
    await page.goto(`${url}/docs`);
    // To the search by one key, to an operation by typing and following the list.
    await page.keyboard.press("/");
    await page.keyboard.type("throttle check batch");
    await page.locator("#checkThrottles").waitFor();
    check((await page.locator(".operation:visible").count()) === 1, "the search leaves one operation");
    check((await page.locator(".contents li:visible").count()) < 6, "the list of contents follows the search");
    await page.locator('.contents a[href="#checkThrottles"]').focus();
    await page.keyboard.press("Enter");
    check(page.url().endsWith("#checkThrottles"), "the list leads to the operation");
    check((await page.locator(".contents [aria-current]").getAttribute("href")) === "#checkThrottles", "and marks it");
    await page.locator("#checkThrottles summary").first().focus();
    await page.keyboard.press("Enter");
    await page.locator("#checkThrottles details[open] pre").first().waitFor();
    await page.locator("#search").focus();
    await page.keyboard.type(" nothing-like-it");
    await page.getByText("Nothing here has these words.").waitFor();
    await page.keyboard.press("Escape");
    check((await page.locator(".operation:visible").count()) > 50, "Escape shows all again");
    await page.getByRole("button", { name: "Switch to dark" }).click();
    check((await page.evaluate(() => document.documentElement.dataset.theme)) === "dark", "the theme can be chosen");
    await page.reload();
    check((await page.evaluate(() => document.documentElement.dataset.theme)) === "dark", "the choice is kept");
  });
  // Without scripts everything is there.
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${url}/docs`);
    await page.locator("#checkThrottle").waitFor();
  });
}
