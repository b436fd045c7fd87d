package expect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
)

// textDifference shows two texts one below the other: a single line each, with a mark below the first
// different letter, or, for texts of several lines, all lines with - before missing and + before unexpected
// ones.
func textDifference(wanted string, message send.Response) string {
	got := message.Text()
	switch {
	case wanted == got:
		return ""
	case got == "":
		return "it has no text: " + render.Line(message)
	case strings.Contains(wanted+got, "\n"):
		return strings.Join(lineDifference(strings.Split(wanted, "\n"), strings.Split(got, "\n")), "\n")
	}
	quoted, shown := []rune(strconv.Quote(wanted)), []rune(strconv.Quote(got))
	same := 0
	for same < len(quoted) && same < len(shown) && quoted[same] == shown[same] {
		same++
	}
	return string(quoted) + "\n" + string(shown) + "\n" + strings.Repeat(" ", same) + "^"
}

// lineDifference returns the shortest list of removed and added lines that turns a into b: " " before lines
// of both, "- " before lines of a only, "+ " before lines of b only.
func lineDifference(a, b []string) []string {
	common := commonLengths(a, b)
	var lines []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+a[i])
			i++
		default:
			lines = append(lines, "+ "+b[j])
			j++
		}
	}
	return slices.Clip(lines)
}

// commonLengths returns, for each pair of places, the length of the longest common subsequence of the lines
// after them.
func commonLengths(a, b []string) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, left := range slices.Backward(a) {
		for j, right := range slices.Backward(b) {
			if left == right {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
