package sqlite_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// A host opens one store and passes it to botctx.Config.Store.
func Example() {
	folder, err := os.MkdirTemp("", "bots")
	if err != nil {
		slog.Error(err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "bots.db")

	for range 2 { // The second time, the documents are already there.
		if err := greet(context.Background(), path); err != nil {
			slog.Error(err.Error())
		}
	}
	// Output:
	// {"_id":"ada","greeted":1}
	// {"_id":"ada","greeted":2}
}

func greet(ctx context.Context, path string) error {
	database, err := sqlite.Open(path)
	if err != nil {
		return err // The error names the file and the remedy.
	}
	defer func() { _ = database.Close() }()

	byID, err := query.CompileFilter(document.O("_id", "ada"))
	if err != nil {
		return err
	}
	count, err := query.CompileUpdate(document.O("$inc", document.O("greeted", 1)))
	if err != nil {
		return err
	}
	members := database.Collection("members")
	result, err := members.FindAndModify(ctx, byID, query.Change{Update: count},
		store.FindAndModifyOptions{Upsert: true, New: true})
	if err != nil {
		return err // Nothing was written, unless the error says otherwise.
	}
	fmt.Println(result.Document) //nolint:forbidigo // The example prints.
	return nil
}

// A backup is a complete file for Open.
func ExampleStore_Backup() {
	folder, err := os.MkdirTemp("", "bots")
	if err != nil {
		slog.Error(err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	store, err := sqlite.Open(filepath.Join(folder, "bots.db"))
	if err != nil {
		slog.Error(err.Error())
		return
	}
	defer func() { _ = store.Close() }()

	backup, err := os.Create(filepath.Join(folder, "backup.db"))
	if err != nil {
		slog.Error(err.Error())
		return
	}
	defer func() { _ = backup.Close() }()
	fmt.Println(store.Backup(context.Background(), backup))
	// Output: <nil>
}
