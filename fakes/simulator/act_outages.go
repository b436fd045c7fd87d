package simulator

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

// outagePlays are what is out of service until it is told to be back.
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

// channelWith is a channel.
type channelWith struct {
	Channel string `json:"channel"`
	On      bool   `json:"on"`
}

// known refuses a channel that nobody is on.
func (c channelWith) known(b *branch) error {
	if all := channelIDs(fakes.Observing(context.Background()), b); !slices.Contains(all, c.Channel) {
		return boterr.New(boterr.NotFound, "channel", "is %q: there are %v", c.Channel, all)
	}
	return nil
}

func disconnect(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	b.platform.Disconnect(with.Channel)
	return goesOut(b, "channel "+with.Channel), nil
}

func reconnect(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	b.platform.Reconnect(with.Channel)
	return comesBack(b, "channel "+with.Channel), nil
}

// goesOut returns the moment at which something goes out of service.
func goesOut(b *branch, what string) moment {
	return moment{what: "Out of service: " + what, out: append(outBut(b, what), what), isUnsaved: true}
}

// comesBack returns the moment at which something is in service again.
func comesBack(b *branch, what string) moment {
	return moment{what: "Back in service: " + what, out: outBut(b, what), isUnsaved: true}
}

// outBut returns what is out of service, but for one thing.
func outBut(b *branch, what string) []string {
	return slices.DeleteFunc(append([]string{}, b.now().out...), func(one string) bool { return one == what })
}

// services are the services of a platform.
var services = []fakes.Service{
	fakes.ServiceStore, fakes.ServiceDataSources, fakes.ServiceMail, fakes.ServiceFiles, fakes.ServicePayments, fakes.ServiceHTTP,
}

// serviceWith is a service by its name.
type serviceWith struct {
	Service string `json:"service"`
}

// find returns the service.
func (s serviceWith) find() (fakes.Service, error) {
	i := slices.IndexFunc(services, func(one fakes.Service) bool { return one.String() == s.Service })
	if i < 0 {
		return 0, boterr.Invalid("service", "is %q: there are %v", s.Service, services)
	}
	return services[i], nil
}

func disconnectService(b *branch, with serviceWith) (moment, error) {
	found, err := with.find()
	if err != nil {
		return moment{}, err
	}
	b.platform.DisconnectService(found)
	return goesOut(b, found.String()), nil
}

func reconnectService(b *branch, with serviceWith) (moment, error) {
	found, err := with.find()
	if err != nil {
		return moment{}, err
	}
	b.platform.ReconnectService(found)
	return comesBack(b, found.String()), nil
}

// refuse lets the platform refuse messages to a person, who has blocked the bot.
func refuse(b *branch, with personWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	b.platform.RefuseSends(boterr.FailedPrecondition, recipientOf(by))
	return goesOut(b, "messages to "+by.name), nil
}

func accept(b *branch, with personWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	b.platform.AcceptSends(recipientOf(by))
	return comesBack(b, "messages to "+by.name), nil
}

func recipientOf(p *person) fakes.Recipient {
	if p.isAgent() {
		return p.agent
	}
	return p.actor
}

// switchChannel switches a channel on or off, as who runs it does.
func switchChannel(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	b.platform.SwitchChannel(with.Channel, with.On)
	what := "channel " + with.Channel + " (switched off)"
	if with.On {
		return comesBack(b, what), nil
	}
	return goesOut(b, what), nil
}
