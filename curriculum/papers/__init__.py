"""The papers: their claims, measured again."""
