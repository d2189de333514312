"""The gates that need Django but no database: `python -m tests.support.gates`, part of the test command."""

from __future__ import annotations

import os
import subprocess
import sys

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "platform_site.settings.prod",
    "PLATFORM_SECRET_KEY": "only-for-the-deployment-check-Xq3vN8sLr2mT7wYb5cJd9fGh4kPz6aQe",
    "PLATFORM_SEALING_KEYS": "b25seS1mb3ItdGhlLWRlcGxveW1lbnQtY2hlY2stMDE=",
    "PLATFORM_DATABASE_URL": "postgres://platform@database.invalid:5432/platform",
    "PLATFORM_REDIS_URL": "redis://valkey.invalid:6379/0",
    "PLATFORM_ALLOWED_HOSTS": "platform.invalid",
}
GATES: tuple[tuple[str, dict[str, str], list[str]], ...] = (
    ("every model change has its migration", {}, ["makemigrations", "--check", "--dry-run"]),
    ("production settings pass the deployment check", PRODUCTION, ["check", "--deploy", "--fail-level", "WARNING"]),
    ("the OpenAPI document is built without a warning", {}, ["spectacular", "--fail-on-warn", "--file", os.devnull]),
)


def main() -> int:
    """Run them all; the number of the failed ones is the exit code."""
    failed = 0
    for claim, environment, command in GATES:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "manage.py", *command],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"{'ok ' if done.returncode == 0 else 'NO '} {claim}", flush=True)  # noqa: T201 - the gate's own report
        if done.returncode:
            failed += 1
            print(done.stdout + done.stderr, file=sys.stderr)  # noqa: T201 - as above
    return failed


if __name__ == "__main__":
    sys.exit(main())
