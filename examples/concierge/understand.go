package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// said is the part of a guest's message that the concierge understands. A field is zero if the message does not have it.
type said struct {
	// words are the words in lower case, separated and surrounded by single spaces.
	words string
	// name is the name that the guest wants.
	name string
	// number is the number of a place in the list. only is true if the message is just that number.
	number int
	only   bool
	// people is the number of guests.
	people int
	// time is a time of the day such as 19:30.
	time string
	// within is a distance in metres.
	within float64
	// latitude and longitude are the guest's location, in degrees. located is true if the message has one.
	latitude, longitude float64
	located             bool
}

// The forms in which a guest says things, in lower case with numbers as digits.
var (
	nameForm   = regexp.MustCompile(`(?i)\bmy name is\s+([^.,;!?]+)`)
	numberForm = regexp.MustCompile(`\b(?:book|reserve|take|number|about)\s+(?:number\s+)?(\d{1,3})\b`)
	onlyForm   = regexp.MustCompile(`^\s*(\d{1,3})[\s.!]*$`)
	peopleForm = regexp.MustCompile(`\bfor\s+(\d{1,4})\b|\b(\d{1,4})\s+(?:people|persons?|guests?|seats?|of us)\b`)
	timeForm   = regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?:\s*(am|pm))?\b|\b(\d{1,2})\s*(am|pm)\b`)
	withinForm = regexp.MustCompile(`\bwithin\s+(\d+(?:\.\d+)?)\s*(km|m|metres|kilometres)\b`)
	pairForm   = regexp.MustCompile(`(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)`)
	countForm  = regexp.MustCompile(`\b(?:` + strings.Join(countWords, "|") + `)\b`)
	countWords = []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)

func understand(text string) said {
	s := said{words: wordsOf(text), name: group(nameForm, text)}
	s.readLocation(text)
	lower := withDigits(strings.ToLower(text))
	s.time = timeIn(lower)
	// A time is not a number of people: "for 7 pm".
	lower = withinForm.ReplaceAllStringFunc(timeForm.ReplaceAllString(lower, " "), s.readDistance)
	s.number, _ = strconv.Atoi(group(numberForm, lower))
	s.people, _ = strconv.Atoi(group(peopleForm, lower))
	if only := group(onlyForm, lower); only != "" {
		s.number, _ = strconv.Atoi(only)
		s.only = true
	}
	return s
}

// has reports whether the message has one of several words or phrases.
func (s said) has(phrases ...string) bool {
	for _, phrase := range phrases {
		if strings.Contains(s.words, wordsOf(phrase)) {
			return true
		}
	}
	return false
}

// isName reports whether the message has the guest's preferred name.
func (s said) isName() bool { return s.name != "" }

// isNear reports whether the message asks for places near the guest.
func (s said) isNear() bool {
	return s.has("near me", "nearby", "close to me", "around here") || s.within > 0
}

// isLocated reports whether the message has a latitude and a longitude.
func (s said) isLocated() bool { return s.located }

// isPeople reports whether the message may be a number of people.
func (s said) isPeople() bool { return s.only || s.people > 0 }

// isTime reports whether the message has a time of the day.
func (s said) isTime() bool { return s.time != "" }

// hasValue reports whether the message holds the value of a column, in the singular
// or with an s.
func (s said) hasValue(value string) bool {
	words := strings.TrimSuffix(wordsOf(value), " ")
	return words != "" && (strings.Contains(s.words, words+" ") || strings.Contains(s.words, words+"s "))
}

// hasName reports whether the message has a name. A leading article may be missing, unless the rest is a
// single word: "The Place".
func (s said) hasName(name string) bool {
	words := wordsOf(name)
	if rest, ok := strings.CutPrefix(words, " the "); ok && strings.Contains(strings.TrimSpace(rest), " ") {
		words = " " + rest
	}
	return words != " " && strings.Contains(s.words, words)
}

// readLocation reads a latitude and a longitude, in the order in which people write them.
func (s *said) readLocation(text string) {
	pair := pairForm.FindStringSubmatch(text)
	if pair == nil {
		return
	}
	s.located = true
	s.latitude, _ = strconv.ParseFloat(pair[1], 64)
	s.longitude, _ = strconv.ParseFloat(pair[2], 64)
}

// readDistance reads a distance and removes it from the text.
func (s *said) readDistance(text string) string {
	form := withinForm.FindStringSubmatch(text)
	s.within, _ = strconv.ParseFloat(form[1], 64)
	if strings.HasPrefix(form[2], "k") {
		s.within *= 1000
	}
	return " "
}

// wordsOf returns the words of a text in lower case, separated and surrounded by single spaces. Apostrophes
// are dropped: "king's" is one word.
func wordsOf(text string) string {
	text = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return " "
	}
	return " " + strings.Join(words, " ") + " "
}

// withDigits writes the numbers from two to twelve as digits. "One" is usually not a number: "book that one".
func withDigits(text string) string {
	return countForm.ReplaceAllStringFunc(text, func(word string) string {
		return strconv.Itoa(slices.Index(countWords, word) + 2)
	})
}

// timeIn returns the time of the day in a text, as 19:30.
func timeIn(text string) string {
	form := timeForm.FindStringSubmatch(text)
	if form == nil {
		return ""
	}
	hour, _ := strconv.Atoi(form[1] + form[4])
	minute, _ := strconv.Atoi("0" + form[2])
	switch half := form[3] + form[5]; {
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	if hour > 23 || minute > 59 {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", hour, minute)
}

// group returns the first nonempty group of a match.
func group(form *regexp.Regexp, text string) string {
	for i, found := range form.FindStringSubmatch(text) {
		if i > 0 && found != "" {
			return strings.TrimSpace(found)
		}
	}
	return ""
}
