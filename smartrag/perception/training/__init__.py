"""Learning: the only part of perception that needs torch. It ends in files that the runtime reads
without it."""
