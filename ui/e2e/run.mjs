// Usage: node e2e/run.mjs SCENARIO URL [ARGUMENT]
import * as domains from "./domains.mjs";
import * as habits from "./habits.mjs";
import * as scenarios from "./scenarios.mjs";
import * as strangers from "./strangers.mjs";
import { looks } from "./looks.mjs";
import { reference } from "./reference.mjs";

const [name, url, argument] = process.argv.slice(2);
const scenario = { ...scenarios, ...domains, ...habits, ...strangers, looks, reference }[name];
if (!scenario) {
  console.error(`no scenario ${name}`);
  process.exit(2);
}
try {
  await scenario(url, argument);
  console.log(`${name}: ok`);
} catch (error) {
  console.error(error);
  process.exit(1);
}
