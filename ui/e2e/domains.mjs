// What the console shows of payments, of messages, and of what could not be handed over.
import { call, check, open, until, withPage } from "./browser.mjs";

const DUE = new Date(Date.now() - 1000).toISOString();

/** Dead letters are listed with their reason, chosen, and redriven after asking. */
export async function dead(url) {
  // Nobody listens on port 9, and one attempt is all they have.
  const type = { maxDispatchRetries: 1, sink: { type: "http", url: "http://127.0.0.1:9/" } };
  check((await call(url, "PUT", "/admin/dispatch/types/CALL", type)).status === 200, "a type");
  for (const id of ["c-1", "c-2", "c-3"]) {
    check((await call(url, "POST", "/api/v1/dispatch/CALL", { itemId: id, scheduledTime: DUE, context: {} })).status === 202, id);
  }
  await withPage({}, async (page) => {
    await open(page, url, "dispatch");
    const list = page.getByRole("list", { name: "Dead items" });
    await until("three dead letters", async () => (await list.getByRole("listitem").count()) === 3);
    await list.getByText("refused").first().waitFor();
    await list.getByRole("button", { name: "c-2" }).click();
    await page.getByRole("list", { name: "What happened" }).getByText("DEAD", { exact: true }).first().waitFor();

    // Where they are to go by now is a log, which takes everything.
    check((await call(url, "PATCH", "/admin/dispatch/types/CALL", { sink: { type: "log" } })).status === 200, "a sink that works");
    const state = async (id) => (await call(url, "GET", `/api/v1/dispatch/CALL/${id}`)).body.status;
    await list.getByLabel("Choose c-1").check();
    await page.getByRole("button", { name: "Redrive 1 item" }).click();
    check((await state("c-1")) === "DEAD", "nothing happens before it is confirmed");
    await page.getByRole("dialog").getByRole("button", { name: "Redrive" }).click();
    await until("c-1 is handed over", async () => (await state("c-1")) === "DISPATCHED");
    await until("two are left", async () => (await list.getByRole("listitem").count()) === 2);
    await page.getByRole("button", { name: "Choose all shown" }).click();
    await page.getByRole("button", { name: "Redrive 2 items" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Redrive" }).click();
    await page.getByText("2 items redriven.").waitFor();
    await page.getByText("Items come here when all their retries failed").waitFor();
  });
}

/** A held payment is found in the list, read, and released after asking. */
export async function payments(url) {
  const rules = [{ name: "france", when: { country: "FR" }, then: "hold", reason: "a second pair of eyes" }];
  check((await call(url, "PUT", "/admin/payments/rules", rules)).status === 200, "a rule");
  const payment = {
    paymentId: "pay-held", amount: "99.00", currency: "EUR", debtorIban: "DE89370400440532013000",
    creditorIban: "FR1420041010050500013M02606", executionTime: "2200-01-01T16:00:00Z",
  };
  check((await call(url, "POST", "/api/v1/payments", payment)).status === 202, "a payment");
  await withPage({}, async (page) => {
    await open(page, url, "payments");
    await page.getByLabel("Status").selectOption("HELD");
    await page.getByRole("button", { name: "pay-held" }).click();
    await page.getByText("99.00 EUR").waitFor();
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Release" }).click();
    await page.getByRole("list", { name: "What happened" }).getByText("SCHEDULED", { exact: true }).first().waitFor();
    check((await call(url, "GET", "/api/v1/payments/pay-held")).body.status === "SCHEDULED", "the daemon released it");
    await page.getByLabel("Payment id").fill("nothing-of-the-kind");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("alert").waitFor();
  });
}

/** A user is given a limit, uses it up; the message, the usage and the refusals are found. */
export async function messages(url) {
  await withPage({}, async (page) => {
    await open(page, url, "messages");
    await page.getByLabel("User id").fill("101");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("button", { name: "Give a limit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("[name=rateLimit]").fill("2");
    await dialog.locator("[name=timeWindow]").fill("5");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("2 messages in 5 min").waitFor();

    const sent = await call(url, "POST", "/api/send", { userId: 101, message: "hello" });
    check(sent.status === 200, "a message is taken");
    check((await call(url, "POST", "/api/send", { userId: 101, message: "again" })).status === 200, "and one more");
    for (let i = 0; i < 3; ++i) check((await call(url, "POST", "/api/send", { userId: 101, message: "no" })).status === 429, "no more");
    // What is refused is counted once a second.
    await until("the refusals are counted", async () => (await call(url, "GET", "/api/analytics/top-limited")).body[0]?.limited === 3);

    await page.reload();
    await page.getByRole("button", { name: "user 101" }).click();
    await page.getByText("3 refusals").waitFor();
    await page.getByText("2 of 2, until").waitFor();
    await page.getByText("2 messages sent, 3 limited, 0 failed").waitFor();
    await page.getByRole("img", { name: "Usage of user 101" }).waitFor();

    await page.getByLabel("Message id").fill(sent.body.messageId);
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("by log").waitFor();
    const story = page.getByRole("list", { name: "What happened" });
    for (const step of ["ENQUEUED", "DISPATCHED"]) await story.getByText(step, { exact: true }).first().waitFor();
  });
}
