"""The HTML report as people see it: looked at, clicked through and printed in Chromium."""
