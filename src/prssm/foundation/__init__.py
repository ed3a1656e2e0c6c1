"""The ground floor: errors, options and files that every other room stands on."""
