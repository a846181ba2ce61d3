"""The options that stand before the verb, and what follows from them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from smartrag.errors import SettingsError
from smartrag.settings import Settings
from smartrag.system import SmartRAG


@dataclass(frozen=True, slots=True)
class Options:
    """The global options as they were given; None where they were not."""

    store: Path | None
    lens: str
    settings_file: Path | None

    def settings(self) -> Settings:
        """The settings of the file, or the defaults; raises SettingsError."""
        return Settings.from_toml(self.settings_file) if self.settings_file else Settings()

    def store_path(self) -> Path:
        """The file of the store; it need not exist. Raises SettingsError without a home folder."""
        try:
            return self.store.expanduser() if self.store else _data_folder() / "memory.db"
        except RuntimeError as error:
            raise SettingsError(
                "this user has no home folder to keep the store in",
                remedy="Choose a file with --store",
            ) from error

    def to_read(self, settings: Settings | None = None) -> SmartRAG:
        """The store, opened for reading only; raises StoreError where there is none."""
        chosen = settings or self.settings()
        return SmartRAG(self.store_path(), chosen, lens=self.lens, write=False)

    def to_write(self, settings: Settings | None = None) -> SmartRAG:
        """The store, made where there is none."""
        return SmartRAG(self.store_path(), settings or self.settings(), lens=self.lens)

    def to_change(self, settings: Settings | None = None) -> SmartRAG:
        """The store, opened for writing; raises StoreError where there is none."""
        # Opening for writing would make an empty store just to find nothing in it.
        self.to_read(settings).close()
        return self.to_write(settings)


def options_of(context: typer.Context) -> Options:
    """The global options of the running command."""
    options = context.obj
    assert isinstance(options, Options)
    return options


def _data_folder() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "smartrag"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "smartrag"
    # A relative XDG_DATA_HOME is to be ignored, says its specification.
    xdg = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (xdg if xdg.is_absolute() else Path.home() / ".local" / "share") / "smartrag"
