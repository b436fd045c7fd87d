package console_test

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// emulator is a terminal: what is written to it shows as rows of cells. It knows what line editors
// write, and keeps all that scrolls away. What it does not know it notes in unknown.
type emulator struct {
	width    int
	rows     [][]rune
	row, col int
	// colours are the colours that were asked for, unknown what is none of the sequences it knows.
	colours, unknown []string
	pending          []byte
}

// Write implements io.Writer.
func (e *emulator) Write(text []byte) (int, error) {
	e.pending = append(e.pending, text...)
	for len(e.pending) > 0 {
		used := e.next(e.pending)
		if used == 0 {
			break // The rest is to come.
		}
		e.pending = e.pending[used:]
	}
	return len(text), nil
}

// next does what the beginning of a text asks for, and returns its length, 0 where it is not whole.
func (e *emulator) next(text []byte) int {
	switch text[0] {
	case '\r':
		e.col = 0
		return 1
	case '\n':
		e.row++
		return 1
	case '\b':
		e.col = max(e.col-1, 0)
		return 1
	case '\x1b':
		return e.sequence(text)
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, size := utf8.DecodeRune(text)
	if r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1 {
		e.unknown = append(e.unknown, strconv.QuoteRune(r))
		return size
	}
	e.put(r)
	return size
}

// sequence does what an escape sequence asks for.
func (e *emulator) sequence(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		e.unknown = append(e.unknown, strconv.Quote(string(text[:2])))
		return 2
	}
	for i := 2; i < len(text); i++ {
		if text[i] >= '@' && text[i] <= '~' {
			e.control(string(text[2:i]), text[i])
			return i + 1
		}
	}
	return 0
}

// control does what a control sequence asks for.
func (e *emulator) control(argument string, final byte) {
	n, err := strconv.Atoi(argument)
	if err != nil {
		n = 1
	}
	switch final {
	case 'A':
		e.row = max(e.row-n, 0)
	case 'B':
		e.row += n
	case 'C':
		e.col += n
	case 'D':
		e.col = max(e.col-n, 0)
	case 'K':
		e.line()
		e.rows[e.row] = e.rows[e.row][:min(e.col, len(e.rows[e.row]))]
	case 'm':
		e.colours = append(e.colours, argument)
	default:
		e.unknown = append(e.unknown, "CSI "+argument+string(final))
	}
}

// line makes the row of the cursor.
func (e *emulator) line() {
	for len(e.rows) <= e.row {
		e.rows = append(e.rows, nil)
	}
}

// put writes a character where the cursor is.
func (e *emulator) put(r rune) {
	if e.col >= e.width {
		e.row, e.col = e.row+1, 0
	}
	e.line()
	for len(e.rows[e.row]) < e.col+1 {
		e.rows[e.row] = append(e.rows[e.row], ' ')
	}
	e.rows[e.row][e.col] = r
	e.col += runewidth.RuneWidth(r)
}

// String returns the rows, without what is blank behind them.
func (e *emulator) String() string {
	lines := make([]string, len(e.rows))
	for i, row := range e.rows {
		lines[i] = strings.TrimRight(string(row), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}
