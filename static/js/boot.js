// The only blocking script: "auto" becomes light or dark before the first paint, and stays so when the system changes.
const root = document.documentElement;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function resolve() {
  const wish = root.dataset.theme || "auto";
  root.setAttribute("data-bs-theme", wish === "auto" ? (dark.matches ? "dark" : "light") : wish);
}

resolve();
dark.addEventListener("change", resolve);
document.addEventListener("theme:changed", resolve);
