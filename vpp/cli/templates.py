"""Options of the prompts: templates out of the gallery, or a file."""

from argparse import ArgumentParser

from vpp.llm.choices import AUTO, GALLERY, TEMPLATES, current_name


def template_options(parser: ArgumentParser) -> None:
    """What the models are asked with."""
    group = parser.add_argument_group(f"prompts (NAME: {', '.join(GALLERY)})")
    group.add_argument(
        "--templates",
        metavar="NAME",
        type=current_name,
        default=AUTO,
        choices=TEMPLATES,
        help=f"the set for every role, or {AUTO} (default): worked examples for a language model",
    )
    for role, about in (
        ("learner", "asks for a row's output; a NAME, or a file of your own"),
        ("optimizer", "asks for the next hypothesis"),
        ("prior", "asks for a hypothesis before any row is seen"),
    ):
        group.add_argument(f"--{role}-template", metavar="FILE", type=current_name, help=about)
