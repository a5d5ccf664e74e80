"""The audit: every decision, one line each, in a chain."""

from __future__ import annotations

from .reader import Verification, read_records, verify
from .records import VERSION
from .writer import AuditWriter, Sync

__all__ = ["VERSION", "AuditWriter", "Sync", "Verification", "read_records", "verify"]
