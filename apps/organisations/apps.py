from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OrganisationsConfig(AppConfig):
    name = "apps.organisations"
    label = "organisations"
    verbose_name = _("Organisation")
    default_auto_field = "django.db.models.BigAutoField"
