from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RestConfig(AppConfig):
    name = "apps.rest"
    label = "rest"
    verbose_name = _("REST")
    default_auto_field = "django.db.models.BigAutoField"
