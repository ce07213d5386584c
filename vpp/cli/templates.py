"""Templates as a command line names them: out of the gallery, or a file."""

from argparse import ArgumentParser, Namespace

from vpp.cli.surroundings import read_text
from vpp.llm.gallery import DEFAULT, GALLERY, gallery_text
from vpp.llm.templates import ROLES, Role


def template_options(parser: ArgumentParser) -> None:
    """What the models are asked with."""
    group = parser.add_argument_group(f"prompts (NAME: {', '.join(GALLERY)})")
    group.add_argument("--templates", metavar="NAME", default=DEFAULT, choices=GALLERY, help="of every role (default)")
    for role, about in (
        ("learner", "asks for a row's output; a NAME, or a file of your own"),
        ("optimizer", "asks for the next hypothesis"),
        ("prior", "asks for a hypothesis before any row is seen"),
    ):
        group.add_argument(f"--{role}-template", metavar="FILE", help=about)


def templates_of(options: Namespace) -> dict[Role, str | None]:
    """The text a role, None for the default. Raises InputError for a file that cannot be read."""
    return {role: _text(getattr(options, f"{role}_template") or options.templates, role) for role in ROLES}


def _text(said: str, role: Role) -> str | None:
    return gallery_text(said, role) if said in GALLERY else read_text(said)
