"""Ways to fit sparse classifiers, ours and others', behind one protocol."""
