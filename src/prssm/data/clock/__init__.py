"""Time stamps as people write them: parsed to seconds, laid on a grid, mended where asked."""
