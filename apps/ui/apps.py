from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class UiConfig(AppConfig):
    name = "apps.ui"
    label = "ui"
    verbose_name = _("Pages")
    default_auto_field = "django.db.models.BigAutoField"
