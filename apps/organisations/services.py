"""What people do to Projects and their members; each verb is one transaction with its audit row."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.kernel.errors import Code, refuse
from apps.kernel.names import DNS_1035_LABEL
from apps.organisations.domain.roles import Role
from apps.organisations.models import Department, Membership, Project


@transaction.atomic
def create_project(
    slug: str, *, name: str, department: Department, owner: User, by: User, now: datetime, source: str = ""
) -> Project:
    """A Project with its first owner; raises Refused (invalid, duplicate_name)."""
    if not DNS_1035_LABEL.match(slug) or len(slug) > 40:
        message = _("lower-case letters, digits and hyphens, beginning with a letter, at most 40 characters")
        raise refuse(Code.INVALID, _("This short name cannot be used."), fields={"slug": [message]})
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, department=department, created_at=now)
    except IntegrityError:
        message = _("another project has this short name")
        raise refuse(Code.DUPLICATE_NAME, message, fields={"slug": [message]}) from None
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    after = {"slug": slug, "name": name, "department": department.slug, "owner": owner.username}
    audit.record("project.created", on=project, by=by, now=now, after=after, source=source)
    return project


@transaction.atomic
def set_member(project: Project, user: User, role: Role, *, by: User, now: datetime, source: str = "") -> Membership:
    """Give a person a role in the Project, instead of any old one; raises Refused when no owner would be left."""
    members = {row.user_id: row for row in project.memberships.select_for_update().order_by("pk")}
    present = members.get(user.pk)
    if present is not None and present.role == Role.OWNER and role is not Role.OWNER:
        _keep_an_owner(list(members.values()), without=user)
    membership, _created = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    before = {"role": present.role} if present else {}
    after = {"user": user.username, "role": role.value}
    audit.record("project.member_set", on=project, by=by, now=now, before=before, after=after, source=source)
    return membership


@transaction.atomic
def remove_member(project: Project, user: User, *, by: User, now: datetime, source: str = "") -> None:
    """Take a person out of the Project; absent already is fine; raises Refused when no owner would be left."""
    members = {row.user_id: row for row in project.memberships.select_for_update().order_by("pk")}
    present = members.get(user.pk)
    if present is None:
        return
    if present.role == Role.OWNER:
        _keep_an_owner(list(members.values()), without=user)
    present.delete()
    before = {"user": user.username, "role": present.role}
    audit.record("project.member_removed", on=project, by=by, now=now, before=before, source=source)


def _keep_an_owner(members: list[Membership], *, without: User) -> None:
    if not any(row.role == Role.OWNER and row.user_id != without.pk for row in members):
        raise refuse(Code.INVALID, _("A project needs at least one owner: name another one first."))
