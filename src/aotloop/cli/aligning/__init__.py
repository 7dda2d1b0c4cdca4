"""How a person agrees on a loop at the terminal: a planner's questions or a form, then a review, then the file.

beginning → dialogue or form → review (show, edit, red first) → writing
"""
