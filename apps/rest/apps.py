from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RestConfig(AppConfig):
    name = "apps.rest"
    label = "rest"
    verbose_name = _("REST")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the schema generator know our security scheme: it registers itself when its module is loaded."""
        from apps.rest import schema  # noqa: F401, PLC0415 - needs loaded apps, and is needed for its side effect
