// Bundles what the browser gets into static/build (ignored by git): scripts, one style sheet, one icon sprite.
// `node static/build.mjs --watch` rebuilds while one works.
import { build, context } from "esbuild";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const out = join(here, "build");
const icons = join(root, "node_modules/@tabler/icons/icons");

const options = {
  entryPoints: {
    app: join(here, "js/app.js"),
    boot: join(here, "js/boot.js"),
    logs: join(here, "js/logs.js"),
    style: join(here, "css/app.css"),
  },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome123", "firefox120", "safari17.5"],
  loader: { ".svg": "dataurl" },
  legalComments: "none",
  logLevel: "warning",
};

/** One <symbol> per icon named in icons.json; pages use <use href="icons.svg#name">. */
function writeSprite() {
  const names = JSON.parse(readFileSync(join(here, "icons.json"), "utf8"));
  const symbols = names.map((name) => {
    const file = join(icons, "outline", `${name}.svg`);
    if (!existsSync(file)) throw new Error(`static/icons.json names an icon that does not exist: ${name}`);
    const body = readFileSync(file, "utf8").replace(/^[\s\S]*?<svg[^>]*>/, "").replace(/<\/svg>\s*$/, "");
    return `<symbol id="${name}" viewBox="0 0 24 24">${body.replace(/\s+/g, " ").trim()}</symbol>`;
  });
  writeFileSync(join(out, "icons.svg"), `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>\n`);
}

function report() {
  for (const name of ["app.js", "boot.js", "logs.js", "style.css", "icons.svg"]) {
    const file = join(out, name);
    const packed = gzipSync(readFileSync(file)).length;
    console.log(`${name.padEnd(12)} ${String(statSync(file).size).padStart(8)} B  ${String(packed).padStart(7)} B gzip`);
  }
}

mkdirSync(out, { recursive: true });
writeSprite();
if (process.argv.includes("--watch")) {
  await (await context(options)).watch();
} else {
  await build(options);
  report();
}
