"""How a person changes the direction of a loop: wishes become corrections, all together or none.

flags, dialogue → wishes → corrections → applying
"""
