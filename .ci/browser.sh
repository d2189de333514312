#!/usr/bin/env bash
# Finds or installs a Chromium for the browser tests: the system's, Debian's as root, else Playwright's own.
set -u
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "· installing Chromium and a CJK font by apt"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null &&
    command -v chromium >/dev/null && exit 0
fi
echo "· asking Playwright for its Chromium"
.venv/bin/playwright install chromium && exit 0
echo "No Chromium: install one (Debian: apt install chromium), or let Playwright download its own." >&2
exit 1
