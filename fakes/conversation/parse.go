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
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/member"
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
			return kind.read(p, found[1:])
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
	read    func(p *reader, found []string) error
}

func lineOf(pattern string, read func(p *reader, found []string) error) kind {
	return kind{regexp.MustCompile(`^` + pattern + `$`), read}
}

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
	lineOf(`member\s+`+name+`(?:\s+at\s+`+name+`)?(?:\s*(\{.*))?`, (*reader).addMember),
	lineOf(`agent\s+`+name+`\s+at\s+`+name+`(?:\s+in\s+(.*))?`, (*reader).addAgent),
	lineOf(`channel\s+`+name+`\s+of\s+type\s+`+name, (*reader).addChannel),
	lineOf(`desk\s+`+name, (*reader).addDesk),
	lineOf(`data\s+`+name+`\s*(\{.*)`, (*reader).addData),
	lineOf(aCharge+`\s+is\s+declined:\s*(\S.*)`, (*reader).chargeDeclined),
	lineOf(anEvent+`\s+comes\s+twice`, (*reader).comesTwice),
	lineOf(`Mail\s+to\s+(\S.*?)\s+bounces`, (*reader).bounces),
	lineOf(aCall+`\s+fails:\s*(\w+)`, (*reader).callFails),
	lineOf(aCall+`\s+times\s+out`, (*reader).callTimesOut),
	lineOf(aCall+`\s+is\s+(.*)\s+late`, (*reader).callIsLate),
	lineOf(`The\s+process\s+crashes\s+(at|after)\s+`+aCall, (*reader).crashesAtCall),
	lineOf(`The\s+process\s+(crashes|starts\s+again)`, (*reader).process),
	lineOf(`Out\s+of\s+service(?:\s+for\s+(\S.*?))?(?:\s+from\s+request\s+(\d{1,6})\s+on)?:\s*(\S.*)`, (*reader).outOfService),
	lineOf(`Back\s+in\s+service:\s*(\S.*)`, (*reader).backInService),
	lineOf(`(\d[\w\s,.]*?)\s+later\.?`, (*reader).waits),
	lineOf(name+`\s+taps\s+`+inBrackets+`(?:\s+(\d{1,6}))?`, (*reader).taps),
	lineOf(name+`\s+taps\s+`+ticket, (*reader).tapsTicket),
	lineOf(name+`\s+takes\s+`+ticket, (*reader).takes),
	lineOf(name+`\s+ends\s+the\s+chat`, (*reader).ends),
	lineOf(name+`\s+joins\s+the\s+group\s+`+name, (*reader).joinsGroup),
	lineOf(name+`\s+sends\s+([A-Z]+)\s+(\S.*)`, (*reader).memberSendsFile),
	lineOf(name+`\s+sends\s+(\{.*)`, (*reader).memberSends),
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
func (p *reader) furtherLine(found []string) error {
	if p.more == nil {
		return errors.New("this line would continue a text, but there is none: write it after one such as \"Ada: hello\"")
	}
	line, err := unescapedAll(found[0])
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
		return fmt.Errorf("the text in braces is not an event, such as {\"type\": \"IMAGE\", \"data\": {\"url\": ...}}: %w", err)
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

func readFile(kind, url string) (send.Type, string, error) {
	types := []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}
	if !slices.Contains(types, send.Type(kind)) {
		return "", "", fmt.Errorf("%s is not a type of file: use IMAGE, AUDIO, VIDEO or FILE, and write other messages as JSON", kind)
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

// readTicket reads the agent who takes or taps a ticket, and its number.
func readTicket(found []string) (by string, n int, err error) {
	by, err = readName(found[0])
	n, badNumber := number(found[1])
	return by, n, errors.Join(err, badNumber)
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
			return errors.New("the channel of a member comes before the braces, as in \"member Ada at page\"")
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

func perhaps(near string) string {
	if near == "" {
		return ""
	}
	return ": did you mean " + near + "?"
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

func (p *reader) answers(found []string) error {
	text, err := unescaped(found[1])
	if err != nil {
		return err
	}
	if err := p.answer(found[0], Message{Text: text}); err != nil {
		return err
	}
	p.more = func(line string) { p.message().Text += line }
	return nil
}

func (p *reader) sendsFile(found []string) error {
	kind, url, err := readFile(found[1], found[2])
	if err != nil {
		return err
	}
	err = p.answer(found[0], Message{File: kind, URL: url})
	p.isAnswer = false
	return err
}

func (p *reader) sendsOther(found []string) error {
	sent, err := object(found[1])
	if err != nil {
		return err
	}
	err = p.answer(found[0], Message{Other: send.Raw(sent)})
	p.isAnswer = false
	return err
}

func (p *reader) fails(found []string) error {
	step := p.step()
	if step == nil {
		return errors.New("nothing was done that could fail: a line such as \"Ada: hello\" goes before it")
	}
	if step.Failure.Fails || len(step.Answers) > 0 {
		return errors.New("a failure comes once, after the action and before the answers")
	}
	failure := Failure{Fails: true}
	if found[0] != "" {
		code, err := readCode(found[0])
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

func (p *reader) card(found []string) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	title, err := unescaped(found[0])
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

func (p *reader) subtitle(found []string) error {
	if !p.inCard || p.lastCard().Subtitle != "" {
		return errNoCard
	}
	text, err := unescaped(found[0])
	if err != nil {
		return err
	}
	p.lastCard().Subtitle, p.more = text, func(line string) { p.lastCard().Subtitle += line }
	return nil
}

func (p *reader) image(found []string) error {
	if !p.inCard || p.lastCard().ImageURL != "" {
		return errNoCard
	}
	url, err := unescaped(found[0])
	p.lastCard().ImageURL, p.more = url, nil
	return err
}

// oneButton matches a button at the beginning of a line. oneReply matches a quick reply.
var (
	oneButton = regexp.MustCompile(`^` + inBrackets + `(?:\(((?:[^\\()]|\\.)*)\))?\s*`)
	oneReply  = regexp.MustCompile(`^\(((?:[^\\()]|\\.)*)\)\s*`)
)

func (p *reader) buttons(found []string) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	var read []Button
	for rest := found[0]; rest != ""; {
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

func (p *reader) quickReplies(found []string) error {
	if !p.isAnswer {
		return errNoAnswer
	}
	for rest := found[0]; rest != ""; {
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
