// Small manners of the frame: menus, dialogs, copy buttons, toasts, relative times, the phone's navigation.

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

/** Put a message into the polite live region; it leaves by itself, errors stay until closed. */
export function toast(text, level = "info") {
  const region = document.getElementById("toasts");
  if (!region) return;
  const item = document.createElement("div");
  item.className = `toast-item toast-${["success", "warning", "error"].includes(level) ? level : "info"}`;
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn-close";
  close.setAttribute("aria-label", region.dataset.wordClose);
  close.addEventListener("click", () => item.remove());
  item.append(words, close);
  region.append(item);
  if (level !== "error") setTimeout(() => item.remove(), 6000);
}

function startMenus() {
  const closeOthers = (kept) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(kept)) menu.open = false;
  };
  document.addEventListener("click", (event) => closeOthers(event.target));
  document.addEventListener("focusin", (event) => closeOthers(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

function startDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open-dialog]");
    if (opener) document.getElementById(opener.dataset.openDialog)?.showModal();
    const closer = event.target.closest("[data-close-dialog]");
    const around = closer?.closest("dialog");
    if (around) {
      event.preventDefault(); // on a page of its own the same link leads back
      around.close();
    }
    if (event.target.matches("dialog")) event.target.close();
  });
  // A dialog that comes as a fragment opens itself.
  document.addEventListener("htmx:afterSettle", (event) => {
    const dialog = event.target.querySelector?.("dialog[data-open]");
    if (dialog && !dialog.open) dialog.showModal();
  });
}

function startCopy() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
    const text = source ? (source.value ?? source.textContent) : button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyOldWay(text);
    }
    button.classList.add("is-copied");
    button.querySelector("[data-word]")?.replaceChildren(button.dataset.wordCopied);
    setTimeout(() => button.classList.remove("is-copied"), 1500);
  });
}

/** Where the clipboard interface is missing (plain http on another host). */
function copyOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Keep relative times true while the page stands open. */
function tellTimes() {
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "always", style: "short" });
  for (const element of document.querySelectorAll("time[data-relative]")) {
    const seconds = Math.round((new Date(element.dateTime) - Date.now()) / 1000);
    const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS[3];
    const text = Math.abs(seconds) < 2 ? element.dataset.wordNow : words.format(Math.trunc(seconds / size), unit);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** A table that scrolls sideways is reached by the keyboard; one that does not is no stop for it. */
function markScrolling() {
  for (const region of document.querySelectorAll(".table-wrap")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}

export function startUi() {
  startMenus();
  startDialogs();
  startCopy();
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-toggle-nav]")) document.body.classList.toggle("nav-open");
    else if (!event.target.closest(".sidebar")) document.body.classList.remove("nav-open");
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit-on-change]")) event.target.form.requestSubmit();
  });
  tellTimes();
  setInterval(tellTimes, 5000);
  document.addEventListener("htmx:afterSettle", tellTimes);
  markScrolling();
  window.addEventListener("resize", markScrolling);
  document.addEventListener("htmx:afterSettle", markScrolling);
}
