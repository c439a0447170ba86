"""What the study is about: which families each arm trains on, and which are held out."""
