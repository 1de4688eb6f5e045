// What a page of another site tries on a daemon of this machine. The caller looks at the daemon afterwards.
import { check, withPage } from "./browser.mjs";

const EVIL = { args: ["--host-resolver-rules=MAP *.example 127.0.0.1"] };

/** `argument`: {page: the other site, calls: [[path, body], …]}. Sends each body as a Blob without a type: no preflight. */
export async function foreign(url, argument) {
  const { page: site, calls } = JSON.parse(argument);
  await withPage(EVIL, async (page) => {
    await page.goto(site);
    for (const [path, body] of calls) {
      const kind = await page.evaluate(
        async ([target, text]) => (await fetch(target, { method: "POST", mode: "no-cors", body: new Blob([text]) })).type,
        [url + path, body],
      );
      check(kind === "opaque", `${path} was sent and answered, whatever the answer was`);
    }
  });
}

/** The name of the other site points at the daemon: its page is of one origin with the daemon's answers. */
export async function rebinding(url, argument) {
  const { calls } = JSON.parse(argument);
  const port = new URL(url).port;
  await withPage(EVIL, async (page) => {
    const first = await page.goto(`http://evil.example:${port}/`);
    check(first.status() === 421, `the console is not shown by another name: ${first.status()}`);
    for (const [path, body] of calls) {
      const status = await page.evaluate(
        async ([target, text]) =>
          (await fetch(target, { method: "POST", headers: { "Content-Type": "application/json" }, body: text })).status,
        [path, body],
      );
      check(status === 421, `${path}: ${status}`);
      const read = await page.evaluate(async (target) => (await fetch(target)).status, "/admin/policies");
      check(read === 421, `reading: ${read}`);
    }
  });
}
