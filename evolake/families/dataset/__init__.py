"""What is exported: instances, cards, rewards, audits, the gallery."""
