"""C99: a header, a source file and a self-test."""
