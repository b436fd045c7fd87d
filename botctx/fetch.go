package botctx

import (
	"context"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// Fetch sends an HTTP request through the guarded client, which refuses private
// addresses (see package outbound). An answer with any status is no error. After an answer of more than 256 kB
// the run holds memory for one until it ends, see outbound.Config.MaxBufferedBytes.
func (c *Context) Fetch(ctx context.Context, request outbound.Request) (response *outbound.Response, err error) {
	defer func() { err = boterr.Wrap(string(opFetch), c.orPanic(ctx, opFetch, err, recover())) }()
	if err := c.run.Refusal(); err != nil {
		return nil, err
	}
	return outbound.Fetch(outbound.WithOwner(ctx, c.owner()), c.runtime.config.HTTP, request)
}

// opFetch is the name of Fetch in errors and lines of the log.
const opFetch = Op("fetch")

// owner is who holds the answers of Fetch: the run, or the outermost one if runs are nested, so that no run
// waits for memory that a run around it holds. Outside of runs, each call holds its own.
func (p *services) owner() *outbound.Owner {
	if p.run != nil {
		return p.run.outermost().owner()
	}
	owner := outbound.NewOwner(p.scope.App, p.scope.Channel)
	owner.Release()
	return owner
}

// outermost returns the run that waits for all others around this one, or the run itself.
func (r *run) outermost() *run {
	for r.outer != nil {
		r = r.outer.run
	}
	return r
}

// owner returns the owner of the run's answers. Most runs fetch nothing, and need none.
func (r *run) owner() *outbound.Owner {
	if owner := r.holds.Load(); owner != nil {
		return owner
	}
	r.holds.CompareAndSwap(nil, outbound.NewOwner(r.bot.scope.App, r.bot.scope.Channel))
	owner := r.holds.Load()
	if r.ended.Load() { // Logic that was left behind by its run.
		owner.Release()
	}
	return owner
}

// end marks the run as ended, and gives the memory of its answers back.
func (r *run) end() {
	r.ended.Store(true)
	if owner := r.holds.Load(); owner != nil {
		owner.Release()
	}
}

// ownedHTTP is the host's HTTP client for the requests of live chats, whose answers the run holds.
type ownedHTTP struct{ of *services }

// Do implements outbound.Doer.
func (h ownedHTTP) Do(request *http.Request) (*http.Response, error) {
	return h.of.runtime.chatHTTP.Do(request.WithContext(outbound.WithOwner(request.Context(), h.of.owner())))
}
