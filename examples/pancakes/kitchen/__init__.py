"""Recipes for any number of guests: python3 -m kitchen pancakes.txt 12"""
