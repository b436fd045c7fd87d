package chaostest

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// entry is a line of the journal.
type entry struct {
	what    kind
	process int
	// member and number tell the event, and more what belongs to the kind. They are "-" and 0 where
	// there is none.
	member string
	number int
	more   string
}

// kind is what an entry tells.
type kind string

const (
	// began and ended are a run of an event; more is the code of the error with which it ended, or fine.
	began kind = "began"
	ended kind = "ended"
	// sent is a message that the platform took; more is its position in the run and its key.
	sent kind = "sent"
	// replied tells that a send has returned; more is its position.
	replied kind = "replied"
	// refused tells that an operation failed; more is its name.
	refused kind = "refused"
	// done is stored once an event is handled, failed once an attempt has failed, and died once the event is
	// a dead letter.
	done   kind = "done"
	failed kind = "failed"
	died   kind = "died"
	// killed, frozen and thawed are what was done to a process.
	killed kind = "killed"
	frozen kind = "frozen"
	thawed kind = "thawed"
)

// fine is the code of no error.
const fine = "fine"

func (e entry) String() string {
	return fmt.Sprintf("%s %d %s %d %s", e.what, e.process, e.member, e.number, e.more)
}

// journal is a file to which all processes append.
type journal struct{ file *os.File }

func openJournal(path string) (journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // The test gives the path.
	return journal{file: file}, err
}

// end stands at the end of an entry. One without it was cut off, since its process was killed amid the
// write, which the system ends between two pages of the file: nothing was noted.
const end = " ."

// note appends an entry, by one write, so that those of several processes are not mixed. It begins with an
// end of line, so that it has its own behind one that was cut off.
func (j journal) note(e entry) error {
	_, err := j.file.WriteString("\n" + e.String() + end + "\n")
	return err
}

// readJournal returns what all have noted.
func readJournal(path string) ([]entry, error) {
	file, err := os.Open(path) //nolint:gosec // As above.
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	var entries []entry
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text, isWhole := strings.CutSuffix(lines.Text(), end)
		if !isWhole {
			continue
		}
		var e entry
		if _, err := fmt.Sscan(text, &e.what, &e.process, &e.member, &e.number, &e.more); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}
