package simulator

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// servicePlays are the refusals of other services; a conversation can repeat each of them.
func servicePlays() map[string]reader {
	return map[string]reader{
		"declineCharge": of(declineCharge),
		"failMail":      of(failMail),
		"failFile":      of(failFile),
		"bounce":        of(bounce),
	}
}

type declineWith struct {
	Account string `json:"account"`
	Code    string `json:"code"`
}

func declineCharge(b *branch, with declineWith) (moment, error) {
	code := strings.TrimSpace(with.Code)
	if code == "" {
		return moment{}, boterr.Missing("code", "why it is declined, such as insufficient_funds")
	}
	return b.does(conversation.Faults{Fault: fakes.Declines(with.Account, code)}, moment{})
}

type codeWith struct {
	Code boterr.Code `json:"code"`
}

// check refuses unknown codes.
func (c codeWith) check() error {
	if !slices.Contains(boterr.Codes(), c.Code) {
		return boterr.Invalid("code", "is %q: give one of package boterr", string(c.Code))
	}
	return nil
}

func failMail(b *branch, with codeWith) (moment, error) {
	return with.fails(b, fakes.ServiceMail)
}

func failFile(b *branch, with codeWith) (moment, error) {
	return with.fails(b, fakes.ServiceFiles)
}

// fails makes the next request to a service fail.
func (c codeWith) fails(b *branch, of fakes.Service) (moment, error) {
	if err := c.check(); err != nil {
		return moment{}, err
	}
	return b.does(conversation.Faults{Fault: fakes.Fails(of, c.Code)}, moment{})
}

type addressWith struct {
	Address string `json:"address"`
}

func bounce(b *branch, with addressWith) (moment, error) {
	address := strings.TrimSpace(with.Address)
	return b.does(conversation.Bounces{Address: address},
		moment{out: append(outBut(b, "mail to "+address), "mail to "+address)})
}

func faultPlays() map[string]reader {
	return map[string]reader{
		"fail":    of(fail),
		"delay":   of(delay),
		"timeOut": of(timeOut),
		"crashAt": of(crashAt),
	}
}

// faultWith is the fault of a call of an operation: the next one, or the nth from now on.
type faultWith struct {
	Operation botctx.Op   `json:"operation"`
	Nth       int         `json:"nth"`
	Code      boterr.Code `json:"code"`
	// Late is a duration in the form of time.ParseDuration.
	Late string `json:"late"`
	// After is true if the crash comes after the call has done its work.
	After bool `json:"after"`
}

func (f faultWith) late() (time.Duration, error) {
	late, err := time.ParseDuration(f.Late)
	if err != nil || late <= 0 {
		return 0, boterr.Invalid("late", "is %q: give a time such as 20s or 5m", f.Late)
	}
	return late, nil
}

// plan plans a fault of the call.
func (f faultWith) plan(b *branch, fault fakes.Fault) (moment, error) {
	if f.Nth > 1 {
		fault = fault.At(f.Nth)
	}
	return b.does(conversation.Faults{Fault: fault}, moment{})
}

func fail(b *branch, with faultWith) (moment, error) {
	return with.plan(b, fakes.Fails(with.Operation, with.Code))
}

func delay(b *branch, with faultWith) (moment, error) {
	late, err := with.late()
	if err != nil {
		return moment{}, err
	}
	return with.plan(b, fakes.Delays(with.Operation, late))
}

func timeOut(b *branch, with faultWith) (moment, error) {
	return with.plan(b, fakes.TimesOut(with.Operation))
}

func crashAt(b *branch, with faultWith) (moment, error) {
	if with.After {
		return with.plan(b, fakes.CrashesAfter(with.Operation))
	}
	return with.plan(b, fakes.Crashes(with.Operation))
}

// outagePlays are the outages, which last until they are ended.
func outagePlays() map[string]reader {
	return map[string]reader{
		"disconnect":        of(disconnect),
		"reconnect":         of(reconnect),
		"disconnectService": of(disconnectService),
		"reconnectService":  of(reconnectService),
		"refuse":            of(refuse),
		"accept":            of(accept),
		"switch":            of(switchChannel),
	}
}

type channelWith struct {
	Channel string `json:"channel"`
	On      bool   `json:"on"`
}

// known refuses a channel without people.
func (c channelWith) known(b *branch) error {
	if all := channelIDs(fakes.Observing(context.Background()), b); !slices.Contains(all, c.Channel) {
		return boterr.New(boterr.NotFound, "channel", "is %q: give one of %v", c.Channel, all)
	}
	return nil
}

func disconnect(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	return takesOut(b, fakes.Down(fakes.ServiceMessages).Of(with.Channel), "channel "+with.Channel)
}

func reconnect(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	return bringsBack(b, fakes.Down(fakes.ServiceMessages).Of(with.Channel), "channel "+with.Channel)
}

// takesOut takes a service, or a channel, out of service.
func takesOut(b *branch, outage fakes.Fault, what string) (moment, error) {
	m := goesOut(b, what)
	m.isUnsaved = false
	return b.does(conversation.Faults{Fault: outage}, m)
}

func bringsBack(b *branch, outage fakes.Fault, what string) (moment, error) {
	m := comesBack(b, what)
	m.isUnsaved = false
	return b.does(conversation.Lifts{Fault: outage}, m)
}

// goesOut returns the moment when a service goes down.
func goesOut(b *branch, what string) moment {
	return moment{what: "Out of service: " + what, out: append(outBut(b, what), what), isUnsaved: true}
}

// comesBack returns the moment when a service is back.
func comesBack(b *branch, what string) moment {
	return moment{what: "Back in service: " + what, out: outBut(b, what), isUnsaved: true}
}

// outBut returns the services that are down, except one.
func outBut(b *branch, what string) []string {
	return slices.DeleteFunc(append([]string{}, b.now().out...), func(one string) bool { return one == what })
}

var services = []fakes.Service{
	fakes.ServiceStore, fakes.ServiceDataSources, fakes.ServiceMail, fakes.ServiceFiles, fakes.ServicePayments, fakes.ServiceHTTP,
}

type serviceWith struct {
	Service string `json:"service"`
}

func (s serviceWith) find() (fakes.Service, error) {
	i := slices.IndexFunc(services, func(one fakes.Service) bool { return one.String() == s.Service })
	if i < 0 {
		return 0, boterr.Invalid("service", "is %q: give one of %v", s.Service, services)
	}
	return services[i], nil
}

func disconnectService(b *branch, with serviceWith) (moment, error) {
	found, err := with.find()
	if err != nil {
		return moment{}, err
	}
	return takesOut(b, fakes.Down(found), found.String())
}

func reconnectService(b *branch, with serviceWith) (moment, error) {
	found, err := with.find()
	if err != nil {
		return moment{}, err
	}
	return bringsBack(b, fakes.Down(found), found.String())
}

// refuse makes the platform refuse messages to a person, as if the person had blocked the bot.
func refuse(b *branch, with personWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	b.Platform().RefuseSends(boterr.FailedPrecondition, by.Recipient())
	return goesOut(b, "messages to "+by.Name), nil
}

func accept(b *branch, with personWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	b.Platform().AcceptSends(by.Recipient())
	return comesBack(b, "messages to "+by.Name), nil
}

// switchChannel switches a channel on or off, as its operator does.
func switchChannel(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	b.Platform().SwitchChannel(with.Channel, with.On)
	what := "channel " + with.Channel + " (switched off)"
	if with.On {
		return comesBack(b, what), nil
	}
	return goesOut(b, what), nil
}

// processPlays are the actions on the process of the bot, on accepted events and on dead letters.
func processPlays() map[string]reader {
	return map[string]reader{
		"crash":             of(crash),
		"restart":           of(restart),
		"retryDeadLetter":   of(retryDeadLetter),
		"discardDeadLetter": of(discardDeadLetter),
	}
}

func crash(b *branch, _ struct{}) (moment, error) {
	return b.does(conversation.Crashes{}, moment{isDown: true})
}

func restart(b *branch, _ struct{}) (moment, error) {
	return b.does(conversation.Starts{}, moment{isStart: true})
}

type letterWith struct {
	ID string `json:"id"`
}

func retryDeadLetter(b *branch, with letterWith) (moment, error) {
	b.Platform().RetryDeadLetter(with.ID)
	return moment{what: "A dead letter is tried again: move the time", isUnsaved: true}, nil
}

func discardDeadLetter(b *branch, with letterWith) (moment, error) {
	b.Platform().DiscardDeadLetter(with.ID)
	return moment{what: "A dead letter is discarded", isUnsaved: true}, nil
}

func timePlays() map[string]reader {
	return map[string]reader{
		"advance":   of(advance),
		"advanceTo": of(advanceTo),
		"next":      of(next),
	}
}

// advanceWith is a duration, in the form of time.ParseDuration.
type advanceWith struct {
	By string `json:"by"`
}

func advance(b *branch, with advanceWith) (moment, error) {
	by, err := time.ParseDuration(with.By)
	if err != nil {
		return moment{}, boterr.Invalid("by", "is %q: give a time such as 90m or 24h", with.By)
	}
	return passed(b, by)
}

// advanceToWith is the time to advance the clock to.
type advanceToWith struct {
	To time.Time `json:"to"`
}

func advanceTo(b *branch, with advanceToWith) (moment, error) {
	by := with.To.Sub(b.Platform().Now())
	if !b.Platform().Now().Add(by).Equal(with.To) {
		return moment{}, boterr.Invalid("to", "is %v, which is too far from %v: give one within 290 years", with.To, b.Platform().Now())
	}
	return passed(b, by)
}

// next advances the clock until the next agenda is due.
func next(b *branch, _ struct{}) (moment, error) {
	due := dueAgendas(b)
	if len(due) == 0 {
		return moment{}, boterr.New(boterr.NotFound, "", "nothing is scheduled")
	}
	first := slices.MinFunc(due, time.Time.Compare)
	return passed(b, max(0, first.Sub(b.Platform().Now())))
}

// dueAgendas returns the times at which the members' open agendas run next.
func dueAgendas(b *branch) []time.Time {
	var due []time.Time
	for _, p := range b.people() {
		if !p.IsAlone() {
			continue
		}
		for _, record := range p.Actor.In(b.Platform()).Agendas() {
			at := record.NextRunAt.Time()
			if record.RetryAt > 0 {
				at = record.RetryAt.Time()
			}
			if !record.Failed || record.Repeats() {
				due = append(due, at)
			}
		}
	}
	return due
}

// lastYear is the last year that JSON can represent.
const lastYear = 9999

func passed(b *branch, by time.Duration) (moment, error) {
	if by < 0 {
		return moment{}, boterr.Invalid("by", "is %v: time does not go back, but the timeline does", by)
	}
	if b.Platform().Now().Add(by).UTC().Year() > lastYear {
		return moment{}, boterr.Invalid("by", "is %v, which is beyond the year %d: give less", by, lastYear)
	}
	return b.does(conversation.Waits{For: by}, moment{})
}
