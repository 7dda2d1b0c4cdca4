"""The dialogue in which a person agrees on a loop at the terminal: an agent's questions or a form, then a review.

beginning → dialogue or form → review (show, edit, red first) → writing
"""
