package fakes

import (
	"fmt"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// Service is what bot logic works with beside the channels, and can be out of service.
type Service int

// The services of a platform. Those of the platform's own are meant: what Config put in the place
// of a mailer, an object store, accounts or HTTP is not asked whether it is out of service. Any
// store is.
const (
	// ServiceStore is the store with all records, those of data sources included.
	ServiceStore Service = iota
	// ServiceDataSources are all data sources. The rest of the store goes on.
	ServiceDataSources
	// ServiceMail sends mails.
	ServiceMail
	// ServiceFiles is the object store for uploaded files.
	ServiceFiles
	// ServicePayments are all payment accounts.
	ServicePayments
	// ServiceHTTP is the web: whatever Platform.HTTP answers.
	ServiceHTTP
	// ServiceMessages are the messaging platforms of all channels.
	ServiceMessages

	serviceCount
)

// String returns what the service is called in errors and transcripts.
func (s Service) String() string {
	if !s.exists() {
		return fmt.Sprintf("service %d", int(s))
	}
	return [serviceCount]string{"the store", "data sources", "mail", "files", "payments", "HTTP", "the messaging platforms"}[s]
}

func (s Service) exists() bool { return s >= 0 && s < serviceCount }

// outage is what is out of service: a service, or one part of it.
type outage struct {
	service Service
	// app and part name a part, such as a data source. They are "" for all of the service.
	app, part string
}

// String returns what is out of service, for readers.
func (o outage) String() string {
	switch {
	case o.part == "":
		return o.service.String()
	case o.service == ServiceDataSources:
		return "the data source " + o.part
	default:
		return "the account " + o.part
	}
}

// outages are what a test has disconnected and not reconnected yet.
type outages struct {
	mu   sync.Mutex
	list map[outage]bool
}

// err returns why a part of a service does not answer, nil where it does.
func (o *outages) err(asked outage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, out := range []outage{{service: asked.service}, asked} {
		if o.list[out] {
			return boterr.New(boterr.Unavailable, "", "the test has disconnected %s", out)
		}
	}
	return nil
}

func (o *outages) add(out outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.list, out, true)
}

func (o *outages) remove(out outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.list, out)
}

func (o *outages) all() map[outage]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return copyOfMap(o.list)
}

func (o *outages) set(list map[outage]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = list
}

// DisconnectService takes a service out of service: whatever it is asked for is Unavailable, and
// not done, until ReconnectService. What the test itself adds and looks at, such as AddData, Data
// and Actor.Member, is there all the same.
func (p *Platform) DisconnectService(out Service) {
	p.test.Helper()
	p.mustExist(out)
	p.disconnect(outage{service: out})
}

// ReconnectService makes a service answer again.
func (p *Platform) ReconnectService(out Service) {
	p.test.Helper()
	p.mustExist(out)
	p.reconnect(outage{service: out})
}

// DisconnectDataSource is DisconnectService for one data source of DefaultApp.
func (p *Platform) DisconnectDataSource(id string) {
	p.disconnect(outage{ServiceDataSources, DefaultApp, id})
}

// ReconnectDataSource makes a data source of DefaultApp answer again.
func (p *Platform) ReconnectDataSource(id string) {
	p.reconnect(outage{ServiceDataSources, DefaultApp, id})
}

// Disconnect is Platform.DisconnectService for one account: each request is Unavailable, until
// Reconnect. Events of what happened before are delivered.
func (a *Account) Disconnect() { a.platform.disconnect(a.outage()) }

// Reconnect makes the account answer again.
func (a *Account) Reconnect() { a.platform.reconnect(a.outage()) }

func (a *Account) outage() outage { return outage{ServicePayments, a.key.app, a.key.name} }

func (p *Platform) mustExist(s Service) {
	p.test.Helper()
	if !s.exists() {
		p.test.Fatalf("fakes: there is no %s: give a constant such as ServiceMail", s)
	}
}

func (p *Platform) disconnect(out outage) {
	p.outages.add(out)
	p.notef("disconnected: %s", out)
}

func (p *Platform) reconnect(out outage) {
	p.outages.remove(out)
	p.notef("connected again: %s", out)
}
