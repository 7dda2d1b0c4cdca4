"""Commands that run a loop and steer it: run, pause, stop, redirect, confirm, verify."""
