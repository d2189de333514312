// Forms: rows that come and go, drafts, one submit at a time, a word before leaving, errors one can jump to.
//
//   <form data-draft="task-new" data-guard>            draft in localStorage; warning when leaving with changes
//   <div data-rows="containers">                        rows; each <div data-row>
//   <template data-row-template="containers">           one empty row, __index__ in its names and ids
//   <button data-add-row="containers">, <button data-remove-row>
//   <input type="hidden" name="containers-TOTAL_FORMS" data-row-count="containers">

const DRAFT_AGE = 7 * 24 * 3600 * 1000;

/** Rows keep their own number for life: removing one never renames another, so a draft and an error stay true. */
function addRow(name, scope) {
  const holder = scope.querySelector(`[data-rows="${name}"]`);
  const template = scope.querySelector(`template[data-row-template="${name}"]`);
  const count = scope.querySelector(`[data-row-count="${name}"]`);
  if (!holder || !template) return null;
  const index = count ? Number(count.value) : holder.querySelectorAll(":scope > [data-row]").length;
  const shell = document.createElement("template");
  const place = template.dataset.placeholder || "__index__";
  shell.innerHTML = template.innerHTML.replaceAll(place, String(index));
  const row = shell.content.firstElementChild;
  holder.append(shell.content);
  if (count) count.value = String(index + 1);
  window.htmx?.process(row);
  row.dispatchEvent(new Event("rows:changed", { bubbles: true }));
  return row;
}

function removeRow(button) {
  const row = button.closest("[data-row]");
  const gone = row.querySelector(":scope > [data-row-delete], :scope > * > [data-row-delete]");
  const neighbour = row.previousElementSibling?.querySelector("input, select, textarea");
  const form = row.closest("form");
  if (gone) {
    gone.value = "on";
    row.hidden = true;
    // A hidden row must not hold up the form with its own required fields.
    for (const field of row.querySelectorAll("[required]")) field.required = false;
  } else row.remove();
  (neighbour ?? form).focus?.();
  form.dispatchEvent(new Event("rows:changed", { bubbles: true }));
}

function startRows() {
  document.addEventListener("click", (event) => {
    const adder = event.target.closest("[data-add-row]");
    if (adder) {
      const scope = adder.closest("[data-row-scope]") ?? adder.closest("form");
      addRow(adder.dataset.addRow, scope)?.querySelector("input:not([type=hidden]), select, textarea")?.focus();
    }
    const remover = event.target.closest("[data-remove-row]");
    if (remover) removeRow(remover);
  });
  // What the live column shows follows every change of the rows, too.
  document.addEventListener("rows:changed", (event) => {
    const form = event.target.closest("form");
    form?.dispatchEvent(new Event("input", { bubbles: true }));
    numberRows();
  });
  numberRows();
}

/** The last row of a group that needs one cannot be removed; rows are counted for the reader. */
function numberRows() {
  for (const holder of document.querySelectorAll("[data-rows]")) {
    const rows = [...holder.querySelectorAll(":scope > [data-row]")].filter((row) => !row.hidden);
    rows.forEach((row, at) => {
      const number = row.querySelector("[data-row-number]");
      if (number) number.textContent = String(at + 1);
      const remover = row.querySelector("[data-remove-row]");
      if (remover && holder.dataset.least) remover.disabled = rows.length <= Number(holder.dataset.least);
    });
  }
}

const draftKey = (form) => `draft:${form.dataset.draft}`;
const PRIVATE = new Set(["csrfmiddlewaretoken", "version", "submission"]);

function readDraft(form) {
  try {
    const draft = JSON.parse(localStorage.getItem(draftKey(form)));
    return draft && Date.now() - draft.at < DRAFT_AGE ? draft : null;
  } catch {
    return null;
  }
}

function saveDraft(form) {
  const fields = [...new FormData(form)].filter(([name, value]) => !PRIVATE.has(name) && typeof value === "string");
  try {
    localStorage.setItem(draftKey(form), JSON.stringify({ at: Date.now(), fields }));
  } catch {
    // A full or forbidden store costs the draft, not the form.
  }
}

function restoreDraft(form, draft) {
  const values = new Map();
  for (const [name, value] of draft.fields) values.set(name, [...(values.get(name) ?? []), value]);
  // Outer rows first: rows of rows (a container's variables) exist only once their container does.
  for (let round = 0; round < 3; round += 1) {
    for (const count of form.querySelectorAll("[data-row-count]")) {
      const wanted = Number(values.get(count.name)?.[0] ?? 0);
      const scope = count.closest("[data-row-scope]") ?? form;
      while (Number(count.value) < wanted && addRow(count.dataset.rowCount, scope));
    }
  }
  for (const field of form.elements) {
    if (!field.name || PRIVATE.has(field.name) || field.dataset?.rowCount) continue;
    const given = values.get(field.name);
    if (field.type === "checkbox" || field.type === "radio") field.checked = given?.includes(field.value) ?? false;
    else if (given) field.value = given.shift() ?? "";
  }
  for (const gone of form.querySelectorAll("[data-row-delete]")) if (gone.value) gone.closest("[data-row]").hidden = true;
  form.dispatchEvent(new Event("rows:changed", { bubbles: true }));
}

function startDrafts() {
  for (const form of document.querySelectorAll("form[data-draft]")) {
    const offer = form.querySelector("[data-draft-offer]");
    const draft = readDraft(form);
    if (draft && offer && !form.querySelector("[data-error-summary]")) {
      offer.hidden = false;
      offer.querySelector("[data-draft-use]").addEventListener("click", () => {
        restoreDraft(form, draft);
        offer.hidden = true;
      });
      offer.querySelector("[data-draft-drop]").addEventListener("click", () => {
        localStorage.removeItem(draftKey(form));
        offer.hidden = true;
      });
    }
    let timer = null;
    const later = (event) => {
      if (!event.isTrusted && event.type === "input" && !form.dataset.touched) return;
      form.dataset.touched = "yes";
      clearTimeout(timer);
      timer = setTimeout(() => saveDraft(form), 400);
    };
    form.addEventListener("input", later);
    form.addEventListener("change", later);
  }
  // The server says which draft became a task; only then may it go.
  const done = document.querySelector("[data-draft-done]");
  if (done) localStorage.removeItem(`draft:${done.dataset.draftDone}`);
}

function startGuards() {
  let submitting = false;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent === "yes") {
      event.preventDefault();
      return;
    }
    if (form.method === "post" && !form.hasAttribute("hx-post")) {
      form.dataset.sent = "yes";
      submitting = true;
      for (const button of form.querySelectorAll("[type=submit]")) {
        button.classList.add("is-busy");
        // After this turn of the loop, so that the pressed button's own value is still sent.
        setTimeout(() => (button.disabled = true));
      }
    }
  });
  window.addEventListener("beforeunload", (event) => {
    const dirty = document.querySelector("form[data-guard][data-touched]");
    if (dirty && !submitting) event.preventDefault();
  });
  // Back from the next page: the browser may show this one as it was left.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    submitting = false;
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("[type=submit]")) {
        button.disabled = false;
        button.classList.remove("is-busy");
      }
    }
  });
}

function startErrors() {
  const summary = document.querySelector("[data-error-summary]");
  summary?.focus();
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-error-summary] a[href^='#']");
    if (!link) return;
    const field = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!field) return;
    event.preventDefault();
    for (let fold = field.closest("details:not([open])"); fold; fold = field.closest("details:not([open])")) fold.open = true;
    field.scrollIntoView({ block: "center" });
    field.focus({ preventScroll: true });
  });
}

/** data-show-when="kind=Deployment" shows a part only while the named field has one of the values. */
function showParts() {
  for (const part of document.querySelectorAll("[data-show-when]")) {
    const [name, wanted] = part.dataset.showWhen.split("=");
    const form = part.closest("form");
    const field = form?.elements[name];
    if (!field) continue;
    part.hidden = !wanted.split("|").includes(field.value ?? "");
  }
}

export function startForms() {
  startRows();
  startDrafts();
  startGuards();
  startErrors();
  showParts();
  document.addEventListener("change", showParts);
  document.addEventListener("rows:changed", showParts);
}
