"""Where the state is, given what the sensors said: filters and smoothers over any dynamics."""
