"""The verbs about types of entities: list, promote, merge, retire, roll back, read again."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from smartrag.cli.learning import read_again
from smartrag.cli.options import options_of
from smartrag.cli.output import columns, results
from smartrag.cli.text import cleaned

types_app = typer.Typer(
    help="List, promote, merge and retire types of entities.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from `smartrag types`.")]


@types_app.callback()
def types_default(context: typer.Context) -> None:
    """List, promote, merge and retire types of entities. Alone it lists them."""
    if context.invoked_subcommand is None:
        list_types(context)


@types_app.command("list")
def list_types(context: typer.Context) -> None:
    """List the types, what each is a kind of, and how often the store mentions it."""
    with options_of(context).to_read() as memory:
        known, counts = memory.types(), memory.store.versions.mention_counts()
        waiting = memory.store.versions.n_queued()
    table = columns("type", "status", "kind of", "mentions")
    table.columns[3].justify = "right"
    for found in known.types:
        status = f"merged into {found.becomes}" if found.becomes else found.status
        counted = counts.get(found.name, 0)
        table.add_row(Text(found.name), Text(status), Text(found.parent), str(counted))
    results().print(table)
    if waiting:
        results().print(f"{waiting} paragraphs wait to be read again: smartrag types retype")


@types_app.command()
def discover(
    context: typer.Context,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Name them without a language model.")
    ] = False,
) -> None:
    """Show what mentions without a type have in common; `learn --from-pending` learns it."""
    with options_of(context).to_read() as memory:
        found = memory.discover(ask_model=not no_llm)
    table = columns("type", "mentions", "coherence", "such as", "")
    for proposal, examples in found.proposals:
        few = "" if proposal.name in found.lesson.new else "too few to learn"
        numbers = (str(len(proposal.members)), f"{proposal.coherence:.2f}")
        table.add_row(Text(proposal.name), *numbers, Text(", ".join(examples)), few)
    results().print(table)


@types_app.command()
def versions(context: typer.Context) -> None:
    """List the versions of the entity model that were in use here."""
    with options_of(context).to_read() as memory:
        known, deployed = memory.store.versions.listed(), memory.store.versions.deployed()
    table = columns("version", "after", "time", "what was done", "in use")
    in_use = deployed.id if deployed else 0
    table.add_row("0", "", "", "as it was shipped", "yes" if in_use == 0 else "")
    for version in known:
        row = (str(version.id), str(version.parent or 0), version.time, version.change)
        table.add_row(*map(Text, row), "yes" if version.id == in_use else "")
    results().print(table)


@types_app.command()
def promote(context: typer.Context, name: Name) -> None:
    """Take a type that is on trial for good."""
    with options_of(context).to_change() as memory:
        memory.promote(cleaned(name))
    results().print(Text(f"{name}: active"))


@types_app.command()
def merge(
    context: typer.Context,
    name: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The type that stays.")],
) -> None:
    """Call everything of one type by the name of another."""
    with options_of(context).to_change() as memory:
        memory.merge(cleaned(name), cleaned(into))
    results().print(Text(f"{name}: merged into {into}"))


@types_app.command()
def retire(context: typer.Context, name: Name) -> None:
    """Stop using a type: what it found counts as the type that it is a kind of, or goes."""
    with options_of(context).to_change() as memory:
        memory.retire(cleaned(name))
    results().print(Text(f"{name}: retired"))


@types_app.command()
def rollback(
    context: typer.Context,
    to: Annotated[
        int | None,
        typer.Option(min=0, metavar="VERSION", help="Which version; without it the one before."),
    ] = None,
    retype: Annotated[bool, typer.Option(help="Read the documents again at once.")] = True,
) -> None:
    """Go back to an earlier version of the entity model, or forward again; 0 is the shipped one."""
    with options_of(context).to_change() as memory:
        deployed = memory.store.versions.deployed()
        target = to if to is not None else (deployed.parent if deployed else None) or 0
        memory.roll_back(target or None)
        results().print(f"version {target} is in use")
        if retype:
            read_again(memory)


@types_app.command()
def retype(context: typer.Context) -> None:
    """Read again what the version in use has not read yet."""
    with options_of(context).to_change() as memory:
        read_again(memory)
