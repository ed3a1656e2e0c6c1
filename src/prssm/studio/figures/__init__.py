"""Figures that only the studio draws; those of a report are in `prssm.report.interactive`."""
