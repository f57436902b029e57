"""The workshop: where a teacher writes a bank. Every save is an edition of a draft; faults are shown as one goes, not forbidden."""
