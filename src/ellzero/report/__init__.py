"""The HTML page about a model: its summary as plain data, its sentences, and the template that shows them."""
