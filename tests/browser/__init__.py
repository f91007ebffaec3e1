"""The HTML report in Chromium: tests look at it, click through it and print it."""
