"""Small matrices of linear identification: products on one core, and maps with few entries."""
