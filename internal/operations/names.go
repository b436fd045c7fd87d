package operations

import (
	"strings"
	"unicode"
)

// GoName returns the Go name of an operation, a parameter or a field: each word is capitalized,
// with Go's initialisms. "dataSourceId" becomes DataSourceID, "setBravoGroupIcon"
// SetBravoGroupIcon, "attachment_id" AttachmentID. Words in all capitals do not change.
func GoName(jsonName string) string {
	var name strings.Builder
	for _, word := range words(jsonName) {
		name.WriteString(goWord(word))
	}
	return name.String()
}

func goWord(word string) string {
	switch strings.ToLower(word) {
	case "id", "url", "api", "html", "ts":
		return strings.ToUpper(word)
	case "ids":
		return "IDs"
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// words splits a name at underscores, and before each capital letter that follows a lower-case letter or a digit.
func words(name string) []string {
	var split []string
	for part := range strings.SplitSeq(name, "_") {
		start := 0
		for i := 1; i < len(part); i++ {
			if unicode.IsUpper(rune(part[i])) && !unicode.IsUpper(rune(part[i-1])) {
				split = append(split, part[start:i])
				start = i
			}
		}
		if start < len(part) {
			split = append(split, part[start:])
		}
	}
	return split
}
