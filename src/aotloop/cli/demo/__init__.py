"""What `aot demo` shows: a loop from its start to its end, on a small example project.

with stage(folder, keep=…) as place:
    furnish(place)
    tell_story(Performer(…))
"""
