"""The search's page, tables and figures."""
