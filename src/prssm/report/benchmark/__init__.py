"""The benchmark's page, tables and figures."""
