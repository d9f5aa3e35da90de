// What eslint looks for in the scripts of Node.js and of the pages: mistakes, not style.

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/", ".venv*/", ".cache/", "my-lesson*/", "site/", "scripts/explorer/built/"] },
  js.configs.recommended,
  { languageOptions: { globals: { ...globals.node, ...globals.browser } }, rules: { "no-empty": "off", "no-control-regex": "off", "no-unused-vars": ["error", { caughtErrors: "none" }] } },
  { files: ["**/*.js"], languageOptions: { sourceType: "script" } },
];
