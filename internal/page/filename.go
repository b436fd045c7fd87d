package page

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName is the longest name of a file, in code points.
const maxFileName = 100

// FileName returns a file's name without folders, control characters, or characters that change the direction
// of text, and with at most 100 characters. If nothing is left, it returns "file".
func FileName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	var clean strings.Builder
	for _, r := range strings.ToValidUTF8(name, "") {
		if unicode.IsGraphic(r) && !strings.ContainsRune(`"*:<>?|;`, r) {
			clean.WriteRune(r)
		}
	}
	name = strings.Trim(clean.String(), ". ")
	if utf8.RuneCountInString(name) > maxFileName {
		end := path.Ext(name)
		if utf8.RuneCountInString(end) > maxFileName/4 {
			end = ""
		}
		runes := []rune(strings.TrimSuffix(name, end))
		name = string(runes[:maxFileName-utf8.RuneCountInString(end)]) + end
	}
	if name == "" {
		return "file"
	}
	return name
}
