// Entry of every page.
import htmx from "htmx.org";
import { Idiomorph } from "idiomorph/dist/idiomorph.esm.js";
import { startForms } from "./forms.js";
import { startLive } from "./live.js";
import { startTheme } from "./theme.js";
import { startUi, toast } from "./ui.js";

// No inline style, no eval: the content security policy forbids both.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
htmx.config.allowScriptTags = false;
htmx.config.selfRequestsOnly = true;
htmx.config.historyCacheSize = 0; // private pages must not stay in the browser's store after sign-out
htmx.config.refreshOnHistoryMiss = true;
htmx.config.scrollIntoViewOnBoost = false;
// A refused form (409, 422 …) carries its own fragment with the reason.
htmx.config.responseHandling = [
  { code: "204", swap: false },
  { code: "[23]..", swap: true },
  { code: "(400|403|404|409|412|422|429)", swap: false, error: true },
  { code: "...", swap: false, error: true },
];

htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph" || style === "morph:outerHTML",
  handleSwap(style, target, fragment) {
    if (style !== "morph" && style !== "morph:outerHTML" && style !== "morph:innerHTML") return undefined;
    const morphStyle = style === "morph:innerHTML" ? "innerHTML" : "outerHTML";
    // A menu that the reader has open while the answer was on its way stays open.
    const callbacks = { beforeAttributeUpdated: (name, node) => !(name === "open" && node.matches("details")) };
    return Idiomorph.morph(target, fragment.children, { morphStyle, ignoreActiveValue: true, callbacks });
  },
});
window.htmx = htmx;

function csrfToken() {
  return document.querySelector("meta[name=csrf-token]")?.content ?? "";
}

/** What the page shows was removed, by whomever: said once, since every fragment of it finds that out. */
function tellGone() {
  const region = document.getElementById("toasts");
  if (!region || region.dataset.gone) return;
  region.dataset.gone = "yes";
  toast(region.dataset.wordGone, "error");
}

function start() {
  document.addEventListener("live:gone", tellGone);
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = csrfToken();
  });
  const problem = (event) => {
    const live = event.detail.requestConfig?.triggeringEvent?.type === "live";
    if (live) {
      // The connection light tells of a lost connection.
      if (event.detail.xhr?.status === 404) tellGone();
      return;
    }
    const region = document.getElementById("toasts");
    const said = event.detail.xhr?.getResponseHeader?.("X-Problem");
    toast(said ? decodeURIComponent(said) : (region?.dataset.wordFailed ?? "Failed"), "error");
  };
  document.body.addEventListener("htmx:responseError", problem);
  document.body.addEventListener("htmx:sendError", problem);
  document.body.addEventListener("toast", (event) => toast(event.detail.text, event.detail.level));
  startTheme();
  startUi();
  startForms();
  startLive();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
