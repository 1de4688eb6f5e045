import { defineConfig } from "vite";

// Everything is a file of its own, so that the Content-Security-Policy can forbid whatever is inline.
export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
