// Theme and time zone: kept in cookies that the server reads, so that the first paint is already right.

const YEAR = 365 * 24 * 3600;

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${YEAR}; SameSite=Lax${secure}`;
}

export function startTheme() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-set-theme]");
    if (!button) return;
    const theme = button.dataset.setTheme;
    document.documentElement.dataset.theme = theme;
    remember("theme", theme);
    document.dispatchEvent(new Event("theme:changed"));
    for (const other of document.querySelectorAll("[data-set-theme]")) {
      other.setAttribute("aria-pressed", String(other.dataset.setTheme === theme));
    }
  });
  // The zone of the browser is a proposal: the account's own setting wins on the server.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.includes(`tz=${encodeURIComponent(zone)}`)) remember("tz", zone);
}
