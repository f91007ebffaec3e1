"""The numbers and sentences behind every form of a report. Pure."""
