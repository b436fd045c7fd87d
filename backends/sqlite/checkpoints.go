package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// checkpoints copies the log into the file while the writer writes, and makes the writer restart the log once
// all of it has been copied.
type checkpoints struct {
	conn *conn
	// wanted requests a checkpoint. ended is closed when there will be no more.
	wanted chan struct{}
	ended  chan struct{}
	// changes counts the changes since the last request. Only the writer uses it.
	changes int64
	// restart asks the writer to restart the log, which has this number of pages.
	restart chan int64
}

const (
	// changesBetween is the number of changes after which the log is copied into the file. It has a few MiB by
	// then.
	changesBetween = 200
	// longLog is the number of pages from which a log is restarted.
	longLog = 500
	// restartWait is the time that reads may delay a restart before it is put off. It grows with the log, up to
	// longestWait.
	restartWait = 10 * time.Millisecond
	longestWait = 100 * time.Millisecond
	// programWait is the time that readers in other programs may delay a restart.
	programWait = 10 * time.Millisecond
	// idleInterval is the time after which the log of a store with few writes is copied into the file.
	idleInterval = time.Second
)

func (k *checkpoints) begin(s *Store, c *conn) {
	k.conn, k.wanted, k.restart, k.ended = c, make(chan struct{}, 1), make(chan int64, 1), make(chan struct{})
	go k.serve(s.closing)
}

// end waits until the goroutine has ended, and closes the connection.
func (k *checkpoints) end() {
	<-k.ended
	_ = k.conn.close() // The writer empties the log afterwards.
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

// afterGroup is called by the writer after each group.
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

// checkpoint copies the log into the file and restarts or empties it, unless readers in other programs prevent
// that.
func checkpoint(c *conn, mode string) error {
	wait := func(span time.Duration) error { // A prepared statement would set it only once.
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
	"another program is reading the file, so its log remains; keep the log with the file until the next Open")

// checkpointed is like checkpoint, and also returns the number of pages of the log.
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
