package mongo_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/botctx"
)

// The host opens the database named in the environment, creates the indexes, and runs the scheduler until it is
// interrupted.
func Example() {
	uri := os.Getenv("MONGO_URI") // For example mongodb://localhost:27017/bots
	if uri == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, uri); err != nil {
		slog.ErrorContext(ctx, "the host ended", "error", err)
	}
	// Output:
}

func serve(ctx context.Context, uri string) error {
	store, err := mongo.Open(ctx, uri)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
	if err := botctx.EnsureIndexes(ctx, store); err != nil {
		return err
	}
	runtime, err := botctx.New(botctx.Config{Store: store})
	if err != nil {
		return err
	}
	http.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if _, err := store.Now(r.Context()); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		}
	})
	return runtime.Run(ctx)
}
