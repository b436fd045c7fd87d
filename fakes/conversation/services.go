package conversation

import (
	"errors"

	"github.com/botctx/go-sdk/fakes"
)

// What services refuse may stay unmet: whether a bot asks them is what a conversation shows.

func (a DeclinesCharge) do(on *Session) error {
	return asMistake(guarded(func() error {
		on.platform.Account(a.Account).DeclineNext(a.Code).Optional()
		return nil
	}))
}

func (a DeclinesCharge) lines() []string {
	return []string{"The next charge of " + idOf(a.Account) + " is declined: " + escaped(a.Code, "")}
}

func (a DeclinesCharge) code(*names, done) call {
	account := call{receiver: "p", name: "Account", args: []string{quoted(a.Account)}}
	return call{receiver: account.String(), name: "DeclineNext", args: []string{quoted(a.Code)}, then: optional}
}

// optional is behind a fault that may stay unmet.
const optional = ".Optional()"

func (p *reader) chargeDeclined(found []string) error {
	account, err := readID(found[0])
	code, badCode := unescaped(found[1])
	if err := errors.Join(err, badCode); err != nil {
		return err
	}
	p.begin(DeclinesCharge{Account: account, Code: code})
	return nil
}

func (a ServiceFails) do(on *Session) error {
	return asMistake(guarded(func() error {
		a.plan(on.platform).Optional()
		return nil
	}))
}

func (a ServiceFails) plan(p *fakes.Platform) *fakes.Fault {
	if a.Of == ServiceFile {
		return p.FailNextFile(a.Code)
	}
	return p.FailNextMail(a.Code)
}

func (a ServiceFails) lines() []string {
	return []string{"The next " + a.Of + " fails: " + string(a.Code)}
}

func (a ServiceFails) code(*names, done) call {
	name := "FailNextMail"
	if a.Of == ServiceFile {
		name = "FailNextFile"
	}
	return call{receiver: "p", name: name, args: []string{"boterr." + string(a.Code)}, then: optional}
}

func (p *reader) serviceFails(found []string) error {
	code, err := readCode(found[1])
	if err == nil {
		p.begin(ServiceFails{Of: found[0], Code: code})
	}
	return err
}

func (a Bounces) do(on *Session) error {
	return asMistake(guarded(func() error {
		on.platform.RefuseMailTo(a.Address)
		return nil
	}))
}

func (a Bounces) lines() []string { return []string{"Mail to " + escaped(a.Address, "") + " bounces"} }

func (a Bounces) code(*names, done) call {
	return call{receiver: "p", name: "RefuseMailTo", args: []string{quoted(a.Address)}}
}

func (p *reader) bounces(found []string) error {
	address, err := unescaped(found[0])
	if err == nil {
		p.begin(Bounces{Address: address})
	}
	return err
}
