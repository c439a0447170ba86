"""Mutation and crossover of prompts."""
