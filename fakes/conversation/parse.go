package conversation

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/send"
)

// mostErrors bounds the errors of a file that are reported at once.
const mostErrors = 10

// Parse parses a conversation. Its errors are joined; each names the file and the line, and has a remedy.
func Parse(file, text string) (Conversation, error) {
	p := &reader{}
	text = lineEnds.Replace(strings.TrimPrefix(text, "\ufeff"))
	var failed []error
	for line := range strings.Lines(text) {
		p.number++
		if err := p.line(strings.TrimSpace(line)); err != nil {
			failed = append(failed, fmt.Errorf("%s:%d: %w", file, p.number, err))
		}
		if len(failed) == mostErrors {
			break
		}
	}
	p.read.End = p.comment
	return p.read, errors.Join(failed...)
}

// lineEnds normalizes line endings.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

type reader struct {
	read   Conversation
	number int
	cast   cast
	// comment are the comments since the last step or answer.
	comment []string
	// more accepts a further line of the last text, or nil if there is none.
	more func(line string)
	// isAnswer is true if the last line was an answer that may have buttons. inCard is true if it belonged to a
	// card of the answer.
	isAnswer, inCard bool
}

func (p *reader) line(line string) error {
	if line == "" {
		return nil
	}
	if !utf8.ValidString(line) {
		return errors.New("this is not UTF-8: save the file in that encoding, or write an invalid byte as \\x{ff}")
	}
	if comment, is := strings.CutPrefix(line, "#"); is {
		p.comment = append(p.comment, strings.TrimPrefix(comment, " "))
		return nil
	}
	for _, kind := range kinds {
		if found := kind.pattern.FindStringSubmatch(line); found != nil {
			return kind.read(p, &parts{found: found[1:]})
		}
	}
	for _, hint := range hints {
		if hint.pattern.MatchString(line) {
			return errors.New(hint.text)
		}
	}
	return fmt.Errorf("%q is not a line of a conversation: write who says it and a colon before it, as in \"Ada: hello\" or "+
		"\"Bot: Hello Ada!\", or # before a comment", line)
}

const name = `("(?:[^"\\]|\\.)*"|[^\s"#|*:!\[\](){}\\][^":\[\](){}|\\]*?)`

// inBrackets matches a text in brackets, with escapes.
const inBrackets = `\[((?:[^\\\[\]]|\\.)*)\]`

// ticket matches the ticket that an agent takes or taps.
const ticket = `(?:the ticket|ticket (\d{1,6}))`

// kind is a form of lines.
type kind struct {
	pattern *regexp.Regexp
	read    func(p *reader, in *parts) error
}

func lineOf(pattern string, read func(p *reader, in *parts) error) kind {
	return kind{regexp.MustCompile(`^` + pattern + `$`), read}
}

// stepOf returns the form of lines that are a step.
func stepOf(pattern string, read func(in *parts) Act) kind {
	return lineOf(pattern, func(p *reader, in *parts) error {
		act := read(in)
		if err := errors.Join(in.failed...); err != nil {
			return err
		}
		p.begin(act)
		return nil
	})
}

// faultOf returns the form of lines that plan a fault.
func faultOf(pattern string, read func(in *parts) fakes.Fault) kind {
	return stepOf(pattern, func(in *parts) Act { return Faults{read(in)} })
}

// parts are the parts of a line that its form has matched. Its methods read one part each, and collect the errors.
type parts struct {
	found  []string
	failed []error
}

func (in *parts) fail(err error) {
	if err != nil {
		in.failed = append(in.failed, err)
	}
}

// read returns a part as a function reads it.
func read[T any](in *parts, i int, as func(text string) (T, error)) T {
	value, err := as(in.found[i])
	in.fail(err)
	return value
}

func (in *parts) name() string { return read(in, 0, readName) }

func (in *parts) id(i int) string { return read(in, i, readID) }

func (in *parts) text(i int) string { return read(in, i, unescaped) }

func (in *parts) number(i int) int { return read(in, i, number) }

// file reads the type and the address of a file.
func (in *parts) file(i int) (send.Type, string) { return read(in, i, fileType), in.text(i + 1) }

// kinds are the forms of lines. The order matters: an earlier form takes precedence.
var kinds = []kind{
	lineOf(`\| ?(.*)`, (*reader).furtherLine),
	lineOf(`(`+inBrackets+`.*)`, (*reader).buttons),
	lineOf(`(\(.*)`, (*reader).quickReplies),
	lineOf(`\*\s?(.*)`, (*reader).card),
	lineOf(`:\s?(.*)`, (*reader).subtitle),
	lineOf(`!\s*(.*)`, (*reader).image),
	lineOf(`Fails(?::\s*(.*))?`, (*reader).fails),
	lineOf(`Bot(?:\s+to\s+`+name+`)?\s+sends\s+([A-Z]+)\s+(\S.*)`, (*reader).sendsFile),
	lineOf(`Bot(?:\s+to\s+`+name+`)?\s+sends\s+(\{.*)`, (*reader).sendsOther),
	lineOf(`Bot(?:\s+to\s+`+name+`)?\s*:\s?(.*)`, (*reader).answers),
	stepOf(`member\s+`+name+`(?:\s+at\s+`+name+`)?(?:\s*(\{.*))?`, addMember),
	stepOf(`agent\s+`+name+`\s+at\s+`+name+`(?:\s+in\s+(.*))?`, func(in *parts) Act {
		return AddAgent{Name: in.name(), Channel: in.id(1), Groups: read(in, 2, readIDs)}
	}),
	stepOf(`channel\s+`+name+`\s+of\s+type\s+`+name, func(in *parts) Act { return AddChannel{in.id(0), channel.Type(in.id(1))} }),
	stepOf(`desk\s+`+name, func(in *parts) Act { return AddDesk{in.id(0)} }),
	stepOf(`data\s+`+name+`\s*(\{.*)`, func(in *parts) Act { return AddData{in.id(0), read(in, 1, object)} }),
	faultOf(aCharge+`\s+is\s+declined:\s*(\S.*)`, func(in *parts) fakes.Fault {
		return fakes.Declines(in.id(1), in.text(2)).At(read(in, 0, readNth))
	}),
	faultOf(anEvent+`\s+comes\s+twice`, comesTwice),
	faultOf(`Mail\s+to\s+(\S.*?)\s+bounces`, bounced),
	faultOf(`At\s+most\s+(\d{1,6})\s+messages?\s+in\s+(\S.*?)`+aSpan+`:\s*channel\s+`+name, limited),
	faultOf(aCall+`\s+fails:\s*(\w+)`, func(in *parts) fakes.Fault {
		return called(in, 0, fakes.Fault{Err: read(in, 4, readCode)})
	}),
	faultOf(aCall+`\s+times\s+out`, func(in *parts) fakes.Fault { return called(in, 0, fakes.Fault{Kind: fakes.KindTimesOut}) }),
	faultOf(aCall+`\s+is\s+(.*)\s+late`, func(in *parts) fakes.Fault {
		return called(in, 0, fakes.Fault{Kind: fakes.KindDelays, For: read(in, 4, lateness)})
	}),
	faultOf(`The\s+process\s+crashes\s+(at|after)\s+`+aCall, func(in *parts) fakes.Fault {
		return called(in, 1, fakes.Fault{Kind: map[string]fakes.Kind{"at": fakes.KindCrashes, "after": fakes.KindCrashesAfter}[in.found[0]]})
	}),
	stepOf(`The\s+process\s+crashes`, func(*parts) Act { return Crashes{} }),
	stepOf(`The\s+process\s+starts\s+again`, func(*parts) Act { return Starts{} }),
	faultOf(`Out\s+of\s+service`+aSpan+`(?:\s+with\s+(\w+))?:\s*(\S.*)`, outOfService),
	stepOf(`No\s+limit\s+of\s+messages:\s*channel\s+`+name, func(in *parts) Act { return Lifts{fakes.Limits(in.id(0), 0, 0)} }),
	stepOf(`Back\s+in\s+service:\s*(\S.*)`, func(in *parts) Act { return Lifts{read(in, 0, readOutage)} }),
	stepOf(`(\d[\w\s,.]*?)\s+later\.?`, func(in *parts) Act { return Waits{read(in, 0, Duration)} }),
	stepOf(name+`\s+taps\s+`+inBrackets+`(?:\s+(\d{1,6}))?`, func(in *parts) Act {
		taps := Taps{By: in.name(), Title: in.text(1), Which: in.number(2)}
		if taps.Which == 1 {
			taps.Which = 0
		}
		return taps
	}),
	stepOf(name+`\s+taps\s+`+ticket, func(in *parts) Act { return TapsTicket{in.name(), in.number(1)} }),
	stepOf(name+`\s+takes\s+`+ticket, func(in *parts) Act { return Takes{in.name(), in.number(1)} }),
	stepOf(name+`\s+ends\s+the\s+chat`, func(in *parts) Act { return Ends{in.name()} }),
	stepOf(name+`\s+joins\s+the\s+group\s+`+name, func(in *parts) Act { return JoinsGroup{in.name(), in.id(1)} }),
	stepOf(name+`\s+sends\s+([A-Z]+)\s+(\S.*)`, func(in *parts) Act {
		kind, url := in.file(1)
		return Sends{By: in.name(), Event: send.MessageEvent{Type: kind, Data: document.O("url", url)}}
	}),
	stepOf(name+`\s+sends\s+(\{.*)`, func(in *parts) Act { return Sends{in.name(), read(in, 1, readEvent)} }),
	lineOf(name+`\s*:\s?(.*)`, (*reader).says),
}

// hints explain common mistakes in lines that match no form.
var hints = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\staps\s`), "a tapped title is in brackets: write \"Ada taps [Yes]\", or for an agent \"Grace taps the ticket\""},
	{regexp.MustCompile(`\stakes\s`), "an agent takes a ticket: write \"Grace takes the ticket\", or \"Grace takes ticket 2\""},
	{regexp.MustCompile(`\sends\b`), "an agent ends a live chat: write \"Grace ends the chat\""},
	{regexp.MustCompile(`\sjoins\b`), "a member joins a group of the platform: write \"Ada joins the group family\""},
	{regexp.MustCompile(`^Mail to\b`), "write \"Mail to ada@example.com bounces\""},
	{regexp.MustCompile(`^At most\b`), "write \"At most 2 messages in 1 minute: channel shop\""},
	{regexp.MustCompile(`\ssends\s`), "write \"Ada sends IMAGE https://...\", and so for AUDIO, VIDEO and FILE, or a whole event as JSON"},
	{regexp.MustCompile(`\blater\b`), "write how much time passes: \"2 days later\" or \"1h30m later\""},
	{regexp.MustCompile(`^agent\b`), "write where the agent sits: \"agent Grace at support\""},
	{regexp.MustCompile(`^channel\b`), "write what the channel is: \"channel page of type alpha\""},
	{regexp.MustCompile(`^data\b`), "write where the entry goes, and what it is as JSON: data coupons {\"code\": \"SPRING\"}"},
	{regexp.MustCompile(`^The process\b`), "write \"The process crashes\", \"The process crashes at the next sendResponse\" (or after it), " +
		"and \"The process starts again\""},
	{regexp.MustCompile(`^Call\b`), "write \"Call 3 of sendResponse fails: Unavailable\", and so that it times out or is late"},
	{regexp.MustCompile(`^The next\b`), "write \"The next sendResponse fails: Unavailable\", " +
		"\"The next sendResponse times out\" or \"The next sendResponse is 20 seconds late\"; so \"The next mail fails: Unavailable\", " +
		"\"The next file fails: Unavailable\" and \"The next charge of shop is declined: insufficient_funds\""},
}

func (p *reader) begin(act Act) {
	p.read.Steps = append(p.read.Steps, Step{Line: p.number, Comment: p.comment, Act: act})
	p.cast.acts(act)
	p.comment, p.more, p.isAnswer, p.inCard = nil, nil, false, false
}

// step returns the last step, or nil before the first.
func (p *reader) step() *Step {
	if len(p.read.Steps) == 0 {
		return nil
	}
	return &p.read.Steps[len(p.read.Steps)-1]
}

// furtherLine reads a further line of a text.
func (p *reader) furtherLine(in *parts) error {
	if p.more == nil {
		return errors.New("this line would continue a text, but there is none: write it after one such as \"Ada: hello\"")
	}
	line, err := unescapedAll(in.found[0])
	if err == nil {
		p.more("\n" + line)
	}
	return err
}

func object(text string) (document.Object, error) {
	value, err := document.ParseJSON([]byte(text))
	if err != nil {
		return document.Object{}, fmt.Errorf("the text in braces is not valid JSON: %w", err)
	}
	read, isObject := value.(document.Object)
	if !isObject {
		return document.Object{}, errors.New("give a JSON object, in braces")
	}
	return read, read.Err()
}

func (p *reader) says(in *parts) error {
	said := Says{By: in.name(), Text: in.text(1)}
	if err := errors.Join(in.failed...); err != nil {
		return err
	}
	p.begin(said)
	p.more = func(line string) {
		said.Text += line
		p.step().Act = said
	}
	return nil
}

func readEvent(text string) (event send.MessageEvent, err error) {
	if err := document.DecodeJSON([]byte(text), &event); err != nil {
		return event, fmt.Errorf("the text in braces is not an event, such as {\"type\": \"IMAGE\", \"data\": {\"url\": ...}}: %w", err)
	}
	return event, nil
}

func fileType(kind string) (send.Type, error) {
	types := []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}
	if !slices.Contains(types, send.Type(kind)) {
		return "", fmt.Errorf("%s is not a type of file: use IMAGE, AUDIO, VIDEO or FILE, and write other messages as JSON", kind)
	}
	return send.Type(kind), nil
}

// number parses a number from 1 on, or 0 if there is none.
func number(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is not a number here: numbers begin with 1", text)
	}
	return n, nil
}

func addMember(in *parts) Act {
	added := AddMember{Name: in.name()}
	added.Member.FirstName = added.Name
	if in.found[2] != "" {
		more := read(in, 2, object)
		if more.Has("channel") {
			in.fail(errors.New("the channel of a member comes before the braces, as in \"member Ada at page\""))
		}
		in.fail(document.Decode(more, &added.Member))
	}
	if in.found[1] != "" {
		added.Member.Channel = in.id(1)
	}
	return added
}

// readIDs parses a list of ids with commas, which may be empty.
func readIDs(list string) (ids []string, err error) {
	for list != "" {
		first, rest := cutName(list)
		id, err := readID(first)
		if err != nil {
			return nil, err
		}
		ids, list = append(ids, id), rest
	}
	return ids, nil
}

// cutName cuts the first name off a comma-separated list.
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

func operation(text string) (botctx.Op, error) {
	op := botctx.Op(text)
	if op.Exists() {
		return op, nil
	}
	hint := ""
	if near := nearest.To(op, botctx.Ops()); near != "" {
		hint = ": did you mean " + string(near) + "?"
	}
	return "", fmt.Errorf("there is no operation %s%s", text, hint)
}

func readCode(text string) (boterr.Code, error) {
	if slices.Contains(boterr.Codes(), boterr.Code(text)) {
		return boterr.Code(text), nil
	}
	var all []string
	for _, code := range boterr.Codes() {
		all = append(all, string(code))
	}
	return "", fmt.Errorf("there is no code %s: use one of %s", text, strings.Join(all, ", "))
}

// answer adds an answer to the last step. The recipient is the last actor if to is "".
func (p *reader) answer(to string, message Message) error {
	step := p.step()
	if step == nil {
		return errors.New("this answers nothing: a line such as \"Ada: hello\" goes before it")
	}
	called := p.cast.speaker
	if to != "" {
		read, err := readName(to)
		if err != nil {
			return err
		}
		called = read
	}
	if called == "" {
		return errors.New("there is no message yet: name the recipient, as in \"Bot to Ada: Hello!\"")
	}
	step.Answers = append(step.Answers, Answer{Comment: p.comment, To: called, Message: message})
	p.comment, p.more, p.isAnswer, p.inCard = nil, nil, true, false
	return nil
}

func (p *reader) message() *Message {
	answers := p.step().Answers
	return &answers[len(answers)-1].Message
}

func (p *reader) answers(in *parts) error {
	text, err := unescaped(in.found[1])
	if err != nil {
		return err
	}
	if err := p.answer(in.found[0], Message{Text: text}); err != nil {
		return err
	}
	p.more = func(line string) { p.message().Text += line }
	return nil
}

func (p *reader) sendsFile(in *parts) error {
	kind, url := in.file(1)
	return p.answerWhole(in, Message{File: kind, URL: url})
}

func (p *reader) sendsOther(in *parts) error {
	return p.answerWhole(in, Message{Other: send.Raw(read(in, 1, object))})
}

// answerWhole adds an answer that cannot have buttons.
func (p *reader) answerWhole(in *parts, message Message) error {
	err := errors.Join(in.failed...)
	if err == nil {
		err = p.answer(in.found[0], message)
	}
	p.isAnswer = p.isAnswer && err != nil
	return err
}

func (p *reader) fails(in *parts) error {
	step := p.step()
	if step == nil {
		return errors.New("nothing was done that could fail: a line such as \"Ada: hello\" goes before it")
	}
	if step.Failure.Fails || len(step.Answers) > 0 {
		return errors.New("a failure comes once, after the action and before the answers")
	}
	failure := Failure{Fails: true}
	if in.found[0] != "" {
		code, err := readCode(in.found[0])
		if err != nil {
			return err
		}
		failure.Code = code
	}
	step.Failure = failure
	p.more = nil
	return nil
}

// errNoAnswer is the error for a part of an answer without an answer.
var errNoAnswer = errors.New("this is part of an answer: a line such as \"Bot: Which one?\" goes before it")

func (p *reader) card(in *parts) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	title, err := unescaped(in.found[0])
	if err != nil {
		return err
	}
	p.message().Cards = append(p.message().Cards, Card{Title: title})
	p.inCard, p.more = true, func(line string) { p.lastCard().Title += line }
	return nil
}

func (p *reader) lastCard() *Card { return &p.message().Cards[len(p.message().Cards)-1] }

// errNoCard is the error for a subtitle or an image that has no card, or is the second one of its card.
var errNoCard = errors.New("a card has one subtitle and one image, below its title: write a line such as \"* Steel\" before this one")

func (p *reader) subtitle(in *parts) error {
	if !p.inCard || p.lastCard().Subtitle != "" {
		return errNoCard
	}
	text, err := unescaped(in.found[0])
	if err != nil {
		return err
	}
	p.lastCard().Subtitle, p.more = text, func(line string) { p.lastCard().Subtitle += line }
	return nil
}

func (p *reader) image(in *parts) error {
	if !p.inCard || p.lastCard().ImageURL != "" {
		return errNoCard
	}
	url, err := unescaped(in.found[0])
	p.lastCard().ImageURL, p.more = url, nil
	return err
}

// oneButton matches a button at the beginning of a line. oneReply matches a quick reply.
var (
	oneButton = regexp.MustCompile(`^` + inBrackets + `(?:\(((?:[^\\()]|\\.)*)\))?\s*`)
	oneReply  = regexp.MustCompile(`^\(((?:[^\\()]|\\.)*)\)\s*`)
)

func (p *reader) buttons(in *parts) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	var read []Button
	for rest := in.found[0]; rest != ""; {
		one := oneButton.FindStringSubmatch(rest)
		if one == nil {
			return errors.New("buttons are written in brackets, as in [Yes] [More](https://...): write \\[ for a bracket in a title")
		}
		title, err := unescaped(one[1])
		url, badURL := unescaped(one[2])
		if err := errors.Join(err, badURL); err != nil {
			return err
		}
		read, rest = append(read, Button{Title: title, URL: url}), rest[len(one[0]):]
	}
	p.more = nil
	if p.inCard {
		p.lastCard().Buttons = append(p.lastCard().Buttons, read...)
	} else {
		p.message().Buttons = append(p.message().Buttons, read...)
	}
	return nil
}

func (p *reader) quickReplies(in *parts) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	for rest := in.found[0]; rest != ""; {
		one := oneReply.FindStringSubmatch(rest)
		if one == nil {
			return errors.New("quick replies are written in parentheses, as in (Yes) (No): write \\( for one in a title")
		}
		title, err := unescaped(one[1])
		if err != nil {
			return err
		}
		p.message().QuickReplies = append(p.message().QuickReplies, Button{Title: title})
		rest = strings.TrimSpace(rest[len(one[0]):])
	}
	p.more = nil
	return nil
}
