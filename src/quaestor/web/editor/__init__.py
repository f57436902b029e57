"""Where a teacher writes a bank, tries it on simulated students and improves it.

Every save is an edition of a draft; faults are shown as one goes, not forbidden.
"""
