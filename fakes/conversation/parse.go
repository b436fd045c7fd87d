package conversation

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
)

// mostErrors is how many errors of a file are told at once.
const mostErrors = 10

// Parse reads a conversation of a file. Its errors are joined; each names the file and the line, and says
// what to do.
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

// lineEnds makes one of those that editors write.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// reader reads a conversation line by line.
type reader struct {
	read   Conversation
	number int
	cast   cast
	// comment are the comments since the last step or answer.
	comment []string
	// more takes a further line of the last text, nil where there is none.
	more func(line string)
	// isAnswer tells that the last thing is an answer that may have buttons, inCard that it is a card of it.
	isAnswer, inCard bool
}

// line reads one line.
func (p *reader) line(line string) error {
	if line == "" {
		return nil
	}
	if !utf8.ValidString(line) {
		return errors.New("this is no UTF-8: save the file in that encoding, or write a byte that is none as \\x{ff}")
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
	return fmt.Errorf("%q says nothing that is understood: write who says it and a colon before it, as in \"Ada: hello\" or "+
		"\"Bot: Hello Ada!\", or # before a comment", line)
}

// name is a name in a pattern.
const name = `("(?:[^"\\]|\\.)*"|[^\s"#|*:!\[\](){}\\][^":\[\](){}|\\]*?)`

// inBrackets is what stands in brackets, with escapes.
const inBrackets = `\[((?:[^\\\[\]]|\\.)*)\]`

// ticket is which ticket an agent takes or taps.
const ticket = `(?:the ticket|ticket (\d{1,6}))`

// kind is a form of lines.
type kind struct {
	pattern *regexp.Regexp
	read    func(p *reader, found []string) error
}

func lineOf(pattern string, read func(p *reader, found []string) error) kind {
	return kind{regexp.MustCompile(`^` + pattern + `$`), read}
}

// kinds are the forms of lines, those first that others would take as well.
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
	lineOf(`The\s+next\s+charge\s+of\s+`+name+`\s+is\s+declined:\s*(\S.*)`, (*reader).chargeDeclined),
	lineOf(`The\s+next\s+(mail|file)\s+fails:\s*(\w+)`, (*reader).serviceFails),
	lineOf(`Mail\s+to\s+(\S.*?)\s+bounces`, (*reader).bounces),
	lineOf(`The\s+next\s+(\w+)\s+fails:\s*(\w+)`, (*reader).faultOfCode),
	lineOf(`The\s+next\s+(\w+)\s+times\s+out`, (*reader).faultTimesOut),
	lineOf(`The\s+next\s+(\w+)\s+is\s+(.*)\s+late`, (*reader).faultLate),
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

// hints say what is wrong with lines that are nearly of a form.
var hints = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\staps\s`), "what is tapped stands in brackets: write \"Ada taps [Yes]\", or for an agent \"Grace taps the ticket\""},
	{regexp.MustCompile(`\stakes\s`), "an agent takes a ticket: write \"Grace takes the ticket\", or \"Grace takes ticket 2\""},
	{regexp.MustCompile(`\sends\b`), "an agent ends her live chat: write \"Grace ends the chat\""},
	{regexp.MustCompile(`\sjoins\b`), "a member joins a group of her platform: write \"Ada joins the group family\""},
	{regexp.MustCompile(`^Mail to\b`), "write \"Mail to ada@example.com bounces\""},
	{regexp.MustCompile(`\ssends\s`), "write \"Ada sends IMAGE https://...\", and so for AUDIO, VIDEO and FILE, or a whole event as JSON"},
	{regexp.MustCompile(`\blater\b`), "write how much time passes: \"2 days later\" or \"1h30m later\""},
	{regexp.MustCompile(`^agent\b`), "write where the agent sits: \"agent Grace at support\""},
	{regexp.MustCompile(`^channel\b`), "write what the channel is: \"channel page of type alpha\""},
	{regexp.MustCompile(`^data\b`), "write where the entry goes, and what it is as JSON: data coupons {\"code\": \"SPRING\"}"},
	{regexp.MustCompile(`^The next\b`), "write \"The next sendResponse fails: Unavailable\", " +
		"\"The next sendResponse times out\" or \"The next sendResponse is 20 seconds late\"; so \"The next mail fails: Unavailable\", " +
		"\"The next file fails: Unavailable\" and \"The next charge of shop is declined: insufficient_funds\""},
}

// begin begins a step.
func (p *reader) begin(act Act) {
	p.read.Steps = append(p.read.Steps, Step{Line: p.number, Comment: p.comment, Act: act})
	p.cast.acts(act)
	p.comment, p.more, p.isAnswer, p.inCard = nil, nil, false, false
}

// step returns the last step, nil before the first.
func (p *reader) step() *Step {
	if len(p.read.Steps) == 0 {
		return nil
	}
	return &p.read.Steps[len(p.read.Steps)-1]
}

// furtherLine reads a further line of a text.
func (p *reader) furtherLine(found []string) error {
	if p.more == nil {
		return errors.New("there is no text of which this is a further line: it goes behind one such as \"Ada: hello\"")
	}
	line, err := unescapedAll(found[0])
	if err == nil {
		p.more("\n" + line)
	}
	return err
}

// object reads a JSON object.
func object(text string) (document.Object, error) {
	value, err := document.ParseJSON([]byte(text))
	if err != nil {
		return document.Object{}, fmt.Errorf("what stands in braces is no JSON: %w", err)
	}
	read, isObject := value.(document.Object)
	if !isObject {
		return document.Object{}, errors.New("give a JSON object, in braces")
	}
	return read, read.Err()
}
