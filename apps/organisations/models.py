"""Departments, Projects and who is in them (domain.md §1)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.organisations.domain.roles import Role


class Department(models.Model):
    slug = models.SlugField(_("short name"), max_length=40, unique=True)
    name = models.CharField(_("name"), max_length=80)

    class Meta:
        verbose_name = _("department")
        verbose_name_plural = _("departments")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Project(models.Model):
    """A team's workspace; its slug is part of a namespace's name on every cluster, so it never changes."""

    slug = models.CharField(_("short name"), max_length=40, unique=True)
    name = models.CharField(_("name"), max_length=80)
    department = models.ForeignKey(
        Department, on_delete=models.PROTECT, related_name="projects", verbose_name=_("department")
    )
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=Q(slug__regex=r"^[a-z]([-a-z0-9]*[a-z0-9])?$"), name="project_slug_is_dns_label"
            ),
        )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=10, choices=[(role.value, role.value) for role in Role])

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        ordering = ("project_id", "user__username")
        constraints = (
            models.UniqueConstraint(fields=["project", "user"], name="one_role_per_person_and_project"),
            models.CheckConstraint(condition=Q(role__in=[role.value for role in Role]), name="membership_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"
