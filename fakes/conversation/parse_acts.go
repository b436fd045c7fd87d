package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func (p *reader) says(found []string) error {
	by, err := readName(found[0])
	text, badText := unescaped(found[1])
	if err := errors.Join(err, badText); err != nil {
		return err
	}
	said := Says{By: by, Text: text}
	p.begin(said)
	p.more = func(line string) {
		said.Text += line
		p.step().Act = said
	}
	return nil
}

func (p *reader) memberSends(found []string) error {
	by, err := readName(found[0])
	if err != nil {
		return err
	}
	var event send.MessageEvent
	if err := document.DecodeJSON([]byte(found[1]), &event); err != nil {
		return fmt.Errorf("what stands in braces is no event, such as {\"type\": \"IMAGE\", \"data\": {\"url\": ...}}: %w", err)
	}
	p.begin(Sends{By: by, Event: event})
	return nil
}

func (p *reader) memberSendsFile(found []string) error {
	by, err := readName(found[0])
	if err != nil {
		return err
	}
	kind, url, err := readFile(found[1], found[2])
	if err == nil {
		p.begin(Sends{By: by, Event: send.MessageEvent{Type: kind, Data: document.O("url", url)}})
	}
	return err
}

// readFile reads the type of a file and its address.
func readFile(kind, url string) (send.Type, string, error) {
	types := []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}
	if !slices.Contains(types, send.Type(kind)) {
		return "", "", fmt.Errorf("%s is no type of a file: there are IMAGE, AUDIO, VIDEO and FILE; other messages stand there as JSON", kind)
	}
	address, err := unescaped(url)
	return send.Type(kind), address, err
}

func (p *reader) taps(found []string) error {
	by, err := readName(found[0])
	title, badTitle := unescaped(found[1])
	which, badNumber := number(found[2])
	if err := errors.Join(err, badTitle, badNumber); err != nil {
		return err
	}
	if which == 1 {
		which = 0
	}
	p.begin(Taps{By: by, Title: title, Which: which})
	return nil
}

func (p *reader) tapsTicket(found []string) error {
	by, n, err := readTicket(found)
	if err == nil {
		p.begin(TapsTicket{By: by, Ticket: n})
	}
	return err
}

func (p *reader) takes(found []string) error {
	by, n, err := readTicket(found)
	if err == nil {
		p.begin(Takes{By: by, Ticket: n})
	}
	return err
}

// readTicket reads who takes or taps a ticket, and its number.
func readTicket(found []string) (by string, n int, err error) {
	by, err = readName(found[0])
	n, badNumber := number(found[1])
	return by, n, errors.Join(err, badNumber)
}

// number reads a number from 1 on, 0 where there is none.
func number(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is no number here: they begin with 1", text)
	}
	return n, nil
}

func (p *reader) ends(found []string) error {
	by, err := readName(found[0])
	if err == nil {
		p.begin(Ends{By: by})
	}
	return err
}

func (p *reader) waits(found []string) error {
	d, err := Duration(found[0])
	if err == nil {
		p.begin(Waits{For: d})
	}
	return err
}

func (p *reader) addMember(found []string) error {
	called, err := readName(found[0])
	at, badChannel := optionalID(found[1])
	if err := errors.Join(err, badChannel); err != nil {
		return err
	}
	added := AddMember{Name: called, Member: member.Member{FirstName: called}}
	if found[2] != "" {
		more, err := object(found[2])
		if err != nil {
			return err
		}
		if more.Has("channel") {
			return errors.New("the channel of a member stands before what is in braces, as in \"member Ada at page\"")
		}
		if err := document.Decode(more, &added.Member); err != nil {
			return err
		}
	}
	added.Member.Channel = at
	p.begin(added)
	return nil
}

// optionalID reads an id that may be left out.
func optionalID(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return readID(text)
}

func (p *reader) addAgent(found []string) error {
	called, err := readName(found[0])
	at, badChannel := readID(found[1])
	if err := errors.Join(err, badChannel); err != nil {
		return err
	}
	added := AddAgent{Name: called, Channel: at}
	for rest := found[2]; rest != ""; {
		group, behind := cutName(rest)
		read, err := readID(group)
		if err != nil {
			return err
		}
		added.Groups, rest = append(added.Groups, read), behind
	}
	p.begin(added)
	return nil
}

// cutName cuts the first name off a list with commas.
func cutName(list string) (first, rest string) {
	if quoted, err := strconv.QuotedPrefix(list); err == nil {
		behind, isMore := strings.CutPrefix(strings.TrimSpace(list[len(quoted):]), ",")
		if isMore || behind == "" {
			return quoted, strings.TrimSpace(behind)
		}
	}
	first, rest, _ = strings.Cut(list, ",")
	return first, strings.TrimSpace(rest)
}

func (p *reader) addChannel(found []string) error {
	id, err := readID(found[0])
	kind, badType := readID(found[1])
	if err := errors.Join(err, badType); err != nil {
		return err
	}
	p.begin(AddChannel{ID: id, Type: channel.Type(kind)})
	return nil
}

func (p *reader) addDesk(found []string) error {
	id, err := readID(found[0])
	if err == nil {
		p.begin(AddDesk{ID: id})
	}
	return err
}

func (p *reader) addData(found []string) error {
	source, err := readID(found[0])
	if err != nil {
		return err
	}
	entry, err := object(found[1])
	if err == nil {
		p.begin(AddData{Source: source, Entry: entry})
	}
	return err
}

func (p *reader) faultOfCode(found []string) error {
	op, err := operation(found[0])
	code, badCode := readCode(found[1])
	if err := errors.Join(err, badCode); err != nil {
		return err
	}
	p.begin(Faults{Op: op, Code: code})
	return nil
}

func (p *reader) faultTimesOut(found []string) error {
	op, err := operation(found[0])
	if err == nil {
		p.begin(Faults{Op: op, TimesOut: true})
	}
	return err
}

func (p *reader) faultLate(found []string) error {
	op, err := operation(found[0])
	late, badTime := Duration(found[1])
	if badTime == nil && late == 0 {
		badTime = errors.New("a call that is 0 seconds late is not late: give more")
	}
	if err := errors.Join(err, badTime); err != nil {
		return err
	}
	p.begin(Faults{Op: op, Late: late})
	return nil
}

// operation reads the name of an operation.
func operation(text string) (botctx.Op, error) {
	if slices.Contains(botctx.Ops(), botctx.Op(text)) {
		return botctx.Op(text), nil
	}
	var all []string
	for _, op := range botctx.Ops() {
		all = append(all, string(op))
	}
	return "", fmt.Errorf("there is no operation %s%s", text, perhaps(nearest.To(text, all)))
}

// readCode reads a code of boterr.
func readCode(text string) (boterr.Code, error) {
	if slices.Contains(boterr.Codes(), boterr.Code(text)) {
		return boterr.Code(text), nil
	}
	var all []string
	for _, code := range boterr.Codes() {
		all = append(all, string(code))
	}
	return "", fmt.Errorf("there is no code %s: there are %s", text, strings.Join(all, ", "))
}

// perhaps asks whether a name is meant, where there is one.
func perhaps(near string) string {
	if near == "" {
		return ""
	}
	return ": perhaps " + near + " is meant"
}
