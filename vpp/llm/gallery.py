"""The templates that come with the package, by name."""

from functools import cache

from vpp.errors import InputError
from vpp.llm.choices import GALLERY, PAPER, ROLES, Role
from vpp.llm.templates import Template


@cache
def shipped(role: Role, name: str = PAPER) -> Template:
    """A role's template out of the gallery. Raises InputError for a name that is not in it."""
    if name not in GALLERY:
        raise InputError(f"no templates are named {name!r}: take one of {', '.join(GALLERY)}, or a file's path")
    return Template.shipped(role, name)


def template_of(text: str | None, *, role: Role) -> Template:
    """The user's own text, or the template of the set `paper`. Raises InputError."""
    return shipped(role) if text is None else Template(text, role=role)


def gallery_text(name: str, role: Role) -> str | None:
    """What a run's record holds for a name: the template's text, None for the set `paper`."""
    return None if name == PAPER else shipped(role, name).text


def set_texts(name: str) -> dict[Role, str | None]:
    """What a run's record holds for a set of the gallery, by role."""
    return {role: gallery_text(name, role) for role in ROLES}


def name_of(text: str | None, role: Role) -> str | None:
    """The name under which a template ships; None for a text of the user's own."""
    return next((name for name in GALLERY if text in (gallery_text(name, role), shipped(role, name).text)), None)


def check_templates(texts: dict[Role, str | None]) -> tuple[str, ...]:
    """The warnings of a user's own templates. Raises InputError for one that cannot be used."""
    own = [Template(text, role=role) for role in ROLES if (text := texts.get(role)) is not None]
    return tuple(warning for template in own for warning in template.warnings())
