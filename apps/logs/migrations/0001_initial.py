"""The log table, partitioned by day of the line's own time, and the counts of events that were set aside."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

LINES = """
CREATE SEQUENCE logs_logline_arrival;
CREATE TABLE logs_logline (
    at_ns bigint NOT NULL CONSTRAINT logline_at_ns_not_negative CHECK (at_ns >= 0),
    arrival bigint NOT NULL,
    task_id uuid NOT NULL,
    attempt integer NOT NULL,
    pod_uid text NOT NULL,
    instance text NOT NULL,
    container text NOT NULL,
    stream text NOT NULL CONSTRAINT logline_stream_known CHECK (stream IN ('stdout', 'stderr')),
    text text NOT NULL,
    digest bytea NOT NULL CONSTRAINT logline_digest_length CHECK (length(digest) = 16)
) PARTITION BY RANGE (at_ns);
CREATE TABLE logs_logline_default PARTITION OF logs_logline DEFAULT;
CREATE UNIQUE INDEX one_line_per_time_and_digest ON logs_logline (at_ns, digest);
CREATE INDEX logline_in_order ON logs_logline (task_id, at_ns, arrival);
CREATE INDEX logline_by_instance ON logs_logline (task_id, instance, at_ns, arrival);
CREATE INDEX logline_by_arrival ON logs_logline (task_id, arrival);
"""


def first_days(apps, schema_editor):
    from apps.kernel import clock
    from apps.logs import partitions

    partitions.keep(clock.now().date(), retention_days=settings.LOG_RETENTION_DAYS)


class Migration(migrations.Migration):
    initial = True
    dependencies = [("clusters", "0001_initial")]
    operations = [
        migrations.RunSQL(LINES, "DROP TABLE logs_logline; DROP SEQUENCE logs_logline_arrival;"),
        migrations.RunPython(first_days, migrations.RunPython.noop),
        migrations.CreateModel(
            name="SetAside",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("malformed", "malformed"),
                            ("no_time", "no_time"),
                            ("no_pod", "no_pod"),
                            ("not_ours", "not_ours"),
                            ("unknown_task", "unknown_task"),
                            ("wrong_namespace", "wrong_namespace"),
                            ("unstorable", "unstorable"),
                        ],
                        max_length=20,
                        verbose_name="reason",
                    ),
                ),
                ("count", models.PositiveBigIntegerField(default=0, verbose_name="events")),
                ("sample", models.CharField(blank=True, max_length=500, verbose_name="latest")),
                ("first_at", models.DateTimeField(verbose_name="first")),
                ("last_at", models.DateTimeField(verbose_name="last")),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="clusters.cluster",
                        verbose_name="cluster",
                    ),
                ),
            ],
            options={
                "verbose_name": "set-aside log events",
                "verbose_name_plural": "set-aside log events",
                "ordering": ("cluster__name", "reason"),
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "reason"), name="one_count_per_cluster_and_reason")
                ],
            },
        ),
    ]
