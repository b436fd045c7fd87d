package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// checkpoints copies the log into the file while the writer continues. Once the whole log has been copied, it
// makes the writer restart the log.
type checkpoints struct {
	conn *conn
	// wanted requests a checkpoint. ended is closed when the goroutine ends.
	wanted chan struct{}
	ended  chan struct{}
	// changes is the writer's number of changes at the last request. Only the writer uses it.
	changes int64
	// restart passes the log's number of pages to the writer, which then restarts the log.
	restart chan int64
}

const (
	// changesBetween is the number of changes after which the log is copied. The log then has a few MiB.
	changesBetween = 200
	// longLog is the number of pages from which the log is restarted.
	longLog = 500
	// restartWait limits the delay of a restart by reads. If they take longer, the restart is put off. The wait
	// grows with the log, up to longestWait.
	restartWait = 10 * time.Millisecond
	longestWait = 100 * time.Millisecond
	// programWait limits the delay of a restart by readers in other programs.
	programWait = 10 * time.Millisecond
	// idleInterval is the interval at which the log is copied even if there are few writes.
	idleInterval = time.Second
)

func (k *checkpoints) begin(s *Store, c *conn) {
	k.conn, k.wanted, k.restart, k.ended = c, make(chan struct{}, 1), make(chan int64, 1), make(chan struct{})
	go k.serve(s.closing)
}

// end waits for the goroutine and closes the connection.
func (k *checkpoints) end() {
	<-k.ended
	_ = k.conn.close() // The writer empties the log later.
}

func (k *checkpoints) serve(closing <-chan struct{}) {
	defer close(k.ended)
	idle := time.NewTicker(idleInterval)
	defer idle.Stop()
	for {
		select {
		case <-closing:
			return
		case <-k.wanted:
		case <-idle.C:
		}
		if pages, err := checkpointed(k.conn, "PASSIVE"); err == nil && pages >= longLog {
			select {
			case k.restart <- pages:
			default:
			}
		}
	}
}

// The writer calls afterGroup after each group.
func (k *checkpoints) afterGroup(w *writer) {
	select {
	case pages := <-k.restart:
		wait := min(restartWait*time.Duration(pages/longLog), longestWait)
		w.store.readers.pause(wait, func() { _ = checkpoint(w.conn, "RESTART") })
	default:
	}
	if made := w.changes.Load(); made-k.changes >= changesBetween {
		k.changes = made
		select {
		case k.wanted <- struct{}{}:
		default:
		}
	}
}

// checkpoint copies the log into the file. With mode RESTART or TRUNCATE it also restarts or empties the log,
// unless readers in other programs prevent that.
func checkpoint(c *conn, mode string) error {
	wait := func(span time.Duration) error { // Not by c.exec: a prepared PRAGMA would take effect only once.
		_, err := c.sql.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout(%d)", span.Milliseconds()))
		return failure(err)
	}
	if err := wait(programWait); err != nil {
		return err
	}
	_, err := checkpointed(c, mode)
	return errors.Join(err, wait(busyTimeout))
}

var errBusy = boterr.New(boterr.Unavailable, "",
	"another program is reading the file, so its log could not be removed; keep the log next to the file until the next Open")

// checkpointed runs a checkpoint with the connection's current busy_timeout. It returns the log's number of pages.
func checkpointed(c *conn, mode string) (pages int64, err error) {
	err = c.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		var isBusy bool
		var done int64
		if err := scan(rows, &isBusy, &pages, &done); err != nil {
			return false, err
		}
		if isBusy && mode != "PASSIVE" {
			return false, errBusy
		}
		return true, nil
	}, "PRAGMA wal_checkpoint("+mode+")")
	return pages, err
}
