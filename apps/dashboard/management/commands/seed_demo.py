"""`manage.py seed_demo`: fill a fresh installation and write the access file that tells how to sign in."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.dashboard.services import Login, seed
from apps.kernel import clock


class Command(BaseCommand):
    """Passwords and tokens of an earlier run are kept; the address is written anew."""

    help = "Seeds people, projects, marks, pools, quotas and clusters, and writes the access file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--clusters", type=Path, required=True, help="JSON list of name, server, token, ingest_token, ca"
        )
        parser.add_argument("--access", type=Path, required=True, help="file to write logins into, mode 0600")
        parser.add_argument("--url", required=True, help="address of the web process")

    def handle(self, *args: Any, **options: Any) -> None:
        plant = json.loads(options["clusters"].read_text())
        access: Path = options["access"]
        known = json.loads(access.read_text())["logins"] if access.exists() else []
        logins = seed(plant, [Login(**login) for login in known], now=clock.now())
        document = {
            "url": options["url"],
            "logins": [asdict(login) for login in logins],
            "clusters": [{"name": entry["name"], "server": entry["server"]} for entry in plant],
        }
        fresh = access.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(document, file, indent=2)
        fresh.replace(access)
        self.stdout.write(f"seeded {len(plant)} clusters; logins in {access}")
