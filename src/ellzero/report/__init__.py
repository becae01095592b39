"""Pictures and pages of results; matplotlib is imported when a picture is drawn."""
