"""What a front end asks for: typed settings in, results out, and not a word on the terminal.

The command line is one front end; a page is another. Both build the settings of `settings.py`, call
the function of the module with the task's name, and show what it returns in their own way.
"""
