"""What a person reads: tables, figures, one self-contained HTML page."""
