"""The version of this software; it is stored with every outcome."""

VERSION = "0.1.0"
