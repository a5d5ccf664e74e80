"""Orrery interceptors."""
