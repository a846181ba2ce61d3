"""Model files: which there are, where they lie on this device and how they get there.

`registry` is the table and the look-up and never touches the network; `pull` is the only code in
SmartRAG that does.
"""

from smartrag.models.pull import pull, remove, verify
from smartrag.models.registry import (
    MODELS,
    HubSource,
    Model,
    ModelFile,
    WheelSource,
    home,
    locate,
    state,
)

__all__ = [
    "MODELS",
    "HubSource",
    "Model",
    "ModelFile",
    "WheelSource",
    "home",
    "locate",
    "pull",
    "remove",
    "state",
    "verify",
]
