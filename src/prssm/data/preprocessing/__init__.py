"""What is done to recordings before a model sees them: words such as `detrend=linear`."""
