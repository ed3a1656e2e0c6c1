"""Figures that a reader can explore, made with Bokeh (extra `interactive`).

Each function takes objects of the library (predictions, residuals, responses) and returns a Bokeh
layout. `embedding` puts them into a page; `explorable` asks whether Bokeh is installed. Import
these modules only after that.
"""
