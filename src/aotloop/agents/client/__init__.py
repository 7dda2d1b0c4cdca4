"""What is known of a client: whether it is present, its version, its login, its folders, its errors."""
