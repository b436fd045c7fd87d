package botctx

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// zoneIn returns what tells the time zone of a member in a run or, with nil, outside. The run's own
// member is told as the run has it, stored or not: a zone that a run has just asked for counts.
func (r *Runtime) zoneIn(in *run) agenda.Zone {
	if r.config.Zone == nil || in == nil {
		return r.config.Zone
	}
	return func(ctx context.Context, m *member.Member) (string, error) {
		if own := in.bot.Member; own != nil && own.ID == m.ID {
			m = own
		}
		return r.config.Zone(ctx, m)
	}
}

// zoneOfAgenda returns the time zone of an agenda's member, for the scheduler.
func (r *Runtime) zoneOfAgenda(ctx context.Context, of agenda.Agenda) (zone string, err error) {
	scope := record.Scope{App: of.App, Channel: of.Channel, Member: of.Member}
	defer func() { err = r.orPanic(ctx, place{scope: scope}, err, recover()) }()
	ctx, limit := r.limitRun(ctx)
	defer func() { err = limit.End(err) }()
	m, err := members.Get(ctx, r.Operations(scope).allMembers(), of.Member)
	if err != nil {
		return "", err
	}
	return r.config.Zone(ctx, m)
}

// Location returns the time zone of Member as Config.Zone gives it, UTC without that: for a time of
// day that bot logic names itself. Tomorrow at nine, hers, is
//
//	where, err := bot.Location(ctx)
//	...
//	year, month, day := bot.Now().In(where).Date()
//	at := time.Date(year, month, day+1, 9, 0, 0, 0, where)
//
// Errors are those of Config.Zone, and InvalidArgument for a name that is no zone.
// FailedPrecondition: the context has no Member, as that of Runtime.Operations.
func (c *Context) Location(ctx context.Context) (location *time.Location, err error) {
	defer func() { err = boterr.Wrap(string(opLocation), c.orPanic(ctx, opLocation, err, recover())) }()
	if c.Member == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the context has no Member: get it from Runtime.Context, or in a run")
	}
	return agenda.Zone(c.services.runtime.config.Zone).Location(ctx, c.Member)
}

// opLocation is the name of Location in errors and lines of the log.
const opLocation = Op("location")
