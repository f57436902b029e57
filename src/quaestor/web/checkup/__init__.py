"""What `quaestor doctor` looks at: each check says that something is fine, or what is wrong with it and how to mend it."""
