"""Commands that only show something: a log, the data sets, the methods, this installation."""
