"""PR-SSM: model, objective, levels of complexity, choice between them, calibration of the band."""
