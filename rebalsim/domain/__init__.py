"""The words: values that every other room speaks in. Needs nothing but the standard library;
knows no clock, no file, no chance.
"""
