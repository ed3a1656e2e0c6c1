"""PR-SSM as the filters see it: its members, and noises by the filter's likelihood."""
