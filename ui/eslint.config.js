// What finds real defects in the console, its tests, the page of /docs and the peers of benchmarks; nothing about form.
// Run from the root of the repository: `npm run lint`.
import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const named = (...names) => Object.fromEntries(names.map((name) => [name, "readonly"]));
const browser = named("addEventListener", "Blob", "CSS", "document", "Event", "getComputedStyle", "HTMLInputElement",
  "innerWidth", "localStorage", "location", "matchMedia", "Node", "sessionStorage");
const node = named("console", "fetch", "performance", "process", "setInterval", "setTimeout", "URL");

export default tseslint.config(
  { ignores: ["**/node_modules/**", "build/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  // Tests of the page hold functions that run in the browser.
  { files: ["**/*.{js,mjs}"], languageOptions: { globals: { ...browser, ...node } } },
  { files: ["**/vite.config.ts"], languageOptions: { parser: tseslint.parser } },
  {
    files: ["**/src/**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    plugins: { "react-hooks": hooks },
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: fileURLToPath(new URL(".", import.meta.url)) },
    },
    rules: {
      // exhaustive-deps is left out: our effects name what should start them again, not all that they read.
      "react-hooks/rules-of-hooks": "error",
      // Handlers show their own errors; a promise that nobody awaits anywhere else is still an error.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      eqeqeq: "error",
    },
  },
);
