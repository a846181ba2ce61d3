"""SmartRAG: graph-memory retrieval for small devices.

Documents go in without any language model; a question comes back with an answer whose citations
were checked, or with an honest "not found". See `SmartRAG` in `smartrag.system`.
"""

from smartrag.errors import SmartRAGError
from smartrag.settings import Settings
from smartrag.system import SmartRAG
from smartrag.types import Answer, Document, Evidence

__all__ = ["Answer", "Document", "Evidence", "Settings", "SmartRAG", "SmartRAGError"]
