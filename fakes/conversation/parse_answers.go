package conversation

import (
	"errors"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/send"
)

// answer begins an answer to somebody, who acted last where no name is given.
func (p *reader) answer(to string, message Message) error {
	step := p.step()
	if step == nil {
		return errors.New("nothing was done of which this could come: a line such as \"Ada: hello\" goes before it")
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
		return errors.New("nobody has said anything yet: say to whom it goes, as in \"Bot to Ada: Hello!\"")
	}
	step.Answers = append(step.Answers, Answer{Comment: p.comment, To: called, Message: message})
	p.comment, p.more, p.isAnswer, p.inCard = nil, nil, true, false
	return nil
}

// message returns the last answer's message.
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
		return errors.New("that it fails stands once, behind what is done and before the answers")
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

// errNoAnswer is the error for a part of an answer where there is none.
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

// errNoCard is the error for a part of a card where there is none.
var errNoCard = errors.New("this is part of a card, once: a line such as \"* Steel\" goes before it, below an answer")

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

// oneButton is a button at the beginning of a line, oneReply a quick reply.
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
			return errors.New("buttons stand in brackets, as in [Yes] [More](https://...): write \\[ for a bracket in a title")
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
			return errors.New("quick replies stand in parentheses, as in (Yes) (No): write \\( for one in a title")
		}
		title, err := unescaped(one[1])
		if err != nil {
			return err
		}
		p.message().QuickReplies = append(p.message().QuickReplies, title)
		rest = strings.TrimSpace(rest[len(one[0]):])
	}
	p.more = nil
	return nil
}
