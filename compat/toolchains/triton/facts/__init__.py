"""What is known of Triton's releases, targets, GPUs and environment variables, as data."""
