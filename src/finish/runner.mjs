// Runs one check script in bun, deno, node or tsx. Its task comes on stdin: {script, proof, reported,
// cwd, event}. It prints the proof and exits with 0 only after the script's function has returned
// nothing to complain about; with `reported` after it has printed the complaint.
import * as modules from "node:module";
import process from "node:process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const task = JSON.parse(readFileSync(0, "utf8"));
const { stdout } = process;
const exit = process.exit.bind(process);
const end = (text, status) => stdout.write(`\n${text}\n`, () => exit(status));

// Node alone refuses imports without an ending, and TypeScript modules in packages of type commonjs.
if (!process.versions.bun && !process.versions.deno) {
  modules.registerHooks?.({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (error?.code !== "ERR_MODULE_NOT_FOUND" || !/^\.{1,2}\//.test(specifier)) throw error;
        for (const ending of [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"]) {
          try {
            return next(specifier + ending, context);
          } catch {}
        }
        throw error;
      }
    },
    load(url, context, next) {
      const own = /^file:.*\.ts$/.test(url) && !url.includes("/node_modules/");
      return next(url, own ? { ...context, format: "module-typescript" } : context);
    },
  });
}

const told = (error) => {
  if (!(error instanceof Error)) return String(error);
  const stack = String(error.stack ?? "");
  return stack.includes(error.message) ? stack : `${error}\n${stack}`;
};

try {
  const module = await import(pathToFileURL(task.script).href);
  const check = module.default?.default ?? module.default;
  if (typeof check !== "function") throw new Error("the script has no default export that is a function");
  const result = await check({ cwd: task.cwd, event: task.event });
  if (typeof result === "string" && result !== "") end(result, task.reported);
  else end(task.proof, 0);
} catch (error) {
  end(told(error), task.reported);
}
