"""The study `utility`: does what evolves make a model better?"""
