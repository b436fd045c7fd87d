package boterr

import (
	"fmt"
	"strings"
)

// maxListed is how many texts List writes.
const maxListed = 20

// List returns count texts with commas between them: the first 20, and how many more there are.
func List(count int, text func(i int) string) string {
	var list strings.Builder
	for i := range min(count, maxListed) {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(text(i))
	}
	if count > maxListed {
		fmt.Fprintf(&list, " and %d more", count-maxListed)
	}
	return list.String()
}
