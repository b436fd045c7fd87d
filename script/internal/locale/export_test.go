package locale

// IsEmoji reports whether a character is ordered as one of the emoji.
func IsEmoji(r rune) bool { return isEmoji(r) }
