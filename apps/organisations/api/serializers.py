"""Projects, their members and the caller in REST's words (rest.md)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.accounts.models import User
from apps.organisations.domain.roles import Role
from apps.organisations.models import Membership, Project

ROLES = [role.value for role in Role]


class ProjectAnswer(serializers.Serializer[Any]):
    """``role`` is the caller's own; null for an administrator or auditor who is no member. Lists pass ``roles``."""

    slug = serializers.CharField()
    name = serializers.CharField()
    department = serializers.CharField()
    role = serializers.ChoiceField(ROLES, allow_null=True)
    created_at = serializers.DateTimeField()

    def to_representation(self, row: Project) -> dict[str, Any]:
        return {
            "slug": row.slug,
            "name": row.name,
            "department": row.department.slug,
            "role": self.context["roles"].get(row.pk),
            "created_at": row.created_at,
        }


class NewProjectShape(serializers.Serializer[Any]):
    slug = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=80)
    department = serializers.CharField(max_length=40)
    owner = serializers.CharField(max_length=150)


class MemberAnswer(serializers.Serializer[Any]):
    user = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    role = serializers.ChoiceField(ROLES)

    def to_representation(self, row: Membership) -> dict[str, Any]:
        return {"user": row.user.username, "name": row.user.get_full_name(), "role": row.role}


class NewMemberShape(serializers.Serializer[Any]):
    user = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(ROLES)


class TokenShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    prefix = serializers.CharField()
    expires_at = serializers.DateTimeField()


class MeAnswer(serializers.Serializer[Any]):
    """Who the caller is; ``token`` is null for a browser's session, which has every scope."""

    user = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    is_admin = serializers.BooleanField()
    is_auditor = serializers.BooleanField()
    scopes = serializers.ListField(child=serializers.CharField())
    token = TokenShape(allow_null=True)
    projects = ProjectAnswer(many=True)

    def to_representation(self, person: User) -> dict[str, Any]:
        return {
            "user": person.username,
            "name": person.get_full_name(),
            "is_admin": person.is_superuser,
            "is_auditor": person.is_auditor,
            "scopes": self.context["scopes"],
            "token": self.context["token"],
            "projects": ProjectAnswer(self.context["projects"], many=True, context=self.context).data,
        }
