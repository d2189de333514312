from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LogsConfig(AppConfig):
    name = "apps.logs"
    label = "logs"
    verbose_name = _("Logs")
    default_auto_field = "django.db.models.BigAutoField"
